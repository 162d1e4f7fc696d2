CREATE TABLE `attachments` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`task_id` text,
	`name` text NOT NULL,
	`media_type` text NOT NULL,
	`size` integer NOT NULL,
	`sha256` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`task_id`) REFERENCES `tasks`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `attachments_by_task` ON `attachments` (`task_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `attachments_by_project` ON `attachments` (`project_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `attachments_by_content` ON `attachments` (`sha256`);--> statement-breakpoint
CREATE TABLE `accounts` (
	`account` text PRIMARY KEY NOT NULL,
	`executor` text NOT NULL,
	`limited_until` text,
	`resets_at` text,
	`tries` integer NOT NULL,
	`windows` text NOT NULL,
	`told_at` text NOT NULL
) STRICT;
--> statement-breakpoint
DROP INDEX `executions_open`;--> statement-breakpoint
ALTER TABLE `executions` ADD `retry_at` text;--> statement-breakpoint
CREATE INDEX `executions_open` ON `executions` (`id`,`task_id`,`project_id`,`role`,`agent_id`,`status`,`dispatched`,`created_at`,`retry_at`,"overrides" ->> '$.message' IS NOT NULL) WHERE status IN ('queued', 'running');--> statement-breakpoint
ALTER TABLE `tasks` ADD `limits` text;