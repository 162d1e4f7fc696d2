DROP INDEX `tasks_by_status`;--> statement-breakpoint
CREATE INDEX `tasks_pressing` ON `tasks` (`project_id`) WHERE active_execution_id IS NOT NULL OR error_annotation IS NOT NULL;--> statement-breakpoint
CREATE INDEX `tasks_by_status` ON `tasks` (`project_id`,`status`,`archived`,`position`,`id`,`updated_at`);