ALTER TABLE `tasks` ADD `stacked_on` text;--> statement-breakpoint
CREATE INDEX `tasks_stacked` ON `tasks` (`stacked_on`) WHERE stacked_on IS NOT NULL;--> statement-breakpoint
ALTER TABLE `workspaces` ADD `stack` text;--> statement-breakpoint
CREATE INDEX `workspaces_stacked` ON `workspaces` (`task_id`) WHERE stack IS NOT NULL;