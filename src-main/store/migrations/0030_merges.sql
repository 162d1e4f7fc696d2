ALTER TABLE `tasks` ADD `merge` text;--> statement-breakpoint
CREATE INDEX `tasks_undoing_merge` ON `tasks` (`id`) WHERE merge ->> '$.undo' IS NOT NULL;