ALTER TABLE `tasks` ADD `start_when_ready` text;--> statement-breakpoint
CREATE INDEX `tasks_starting_when_ready` ON `tasks` (`id`) WHERE start_when_ready IS NOT NULL;