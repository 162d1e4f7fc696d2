CREATE TABLE `task_templates` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`name` text NOT NULL,
	`title` text NOT NULL,
	`description` text,
	`priority` integer NOT NULL,
	`labels` text NOT NULL,
	`review_config` text NOT NULL,
	`roles` text NOT NULL,
	`repo_id` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`repo_id`) REFERENCES `repos`(`id`) ON UPDATE no action ON DELETE set null
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `task_templates_by_name` ON `task_templates` (`project_id`,"name" COLLATE NOCASE);--> statement-breakpoint
CREATE INDEX `task_templates_by_repo` ON `task_templates` (`repo_id`);--> statement-breakpoint
DROP INDEX `executions_open`;--> statement-breakpoint
ALTER TABLE `executions` ADD `queue_rank` integer;--> statement-breakpoint
CREATE INDEX `executions_open` ON `executions` (`id`,`task_id`,`project_id`,`role`,`agent_id`,`status`,`dispatched`,`created_at`,`retry_at`,`queue_rank`,"overrides" ->> '$.message' IS NOT NULL) WHERE status IN ('queued', 'running');