CREATE TABLE `external_links` (
	`global_id` text NOT NULL,
	`project_id` text NOT NULL,
	`task_id` text,
	`number` integer NOT NULL,
	`url` text NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`task_id`) REFERENCES `tasks`(`id`) ON UPDATE no action ON DELETE set null
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `external_links_by_global_id` ON `external_links` (lower("global_id"));--> statement-breakpoint
CREATE UNIQUE INDEX `external_links_by_task` ON `external_links` (`task_id`);--> statement-breakpoint
CREATE INDEX `external_links_by_project` ON `external_links` (`project_id`);--> statement-breakpoint
CREATE TABLE `integrations` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`platform` text NOT NULL,
	`base_url` text NOT NULL,
	`owner` text NOT NULL,
	`repo` text NOT NULL,
	`token_secret_ref` text NOT NULL,
	`poll_interval_secs` integer NOT NULL,
	`sync_filter` text NOT NULL,
	`default_task_state` text,
	`default_assignee_type` text,
	`default_assignee_id` text,
	`enabled` integer NOT NULL,
	`last_polled_at` text,
	`last_error` text,
	`next_poll_at` text NOT NULL,
	`walk` text,
	`since` text,
	`etag` text,
	`not_before` text,
	`failures` integer NOT NULL,
	`former_names` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `integrations_by_project` ON `integrations` (`project_id`);