CREATE TABLE `forge_intents` (
	`id` text PRIMARY KEY NOT NULL,
	`task_id` text NOT NULL,
	`project_id` text NOT NULL,
	`intent` text NOT NULL,
	`key` text,
	`triggered_by` text NOT NULL,
	`with_push` integer NOT NULL,
	`created_at` text NOT NULL,
	`settled_at` text,
	`error` text,
	FOREIGN KEY (`task_id`) REFERENCES `tasks`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `forge_intents_by_key` ON `forge_intents` (`task_id`,`key`);--> statement-breakpoint
CREATE INDEX `forge_intents_pending` ON `forge_intents` (`task_id`) WHERE settled_at IS NULL;--> statement-breakpoint
CREATE TABLE `pull_requests` (
	`task_id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`number` integer NOT NULL,
	`url` text NOT NULL,
	`state` text NOT NULL,
	`title` text NOT NULL,
	`target` text NOT NULL,
	`branch` text NOT NULL,
	`repository` text NOT NULL,
	`head` text NOT NULL,
	`pushed` text,
	`mergeable` integer,
	`merge_commit` text,
	`queued` integer NOT NULL,
	`auto_merge` integer NOT NULL,
	`checks` text NOT NULL,
	`threads` text NOT NULL,
	`reviews` text NOT NULL,
	`comments` text NOT NULL,
	`rounds` integer NOT NULL,
	`given` text NOT NULL,
	`settled` integer NOT NULL,
	`synced_at` text,
	`read_all_at` text,
	`updated_there` text,
	`last_error` text,
	`next_poll_at` text NOT NULL,
	`failures` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`task_id`) REFERENCES `tasks`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `pull_requests_by_number` ON `pull_requests` (`project_id`,`number`);--> statement-breakpoint
CREATE INDEX `pull_requests_live` ON `pull_requests` (`next_poll_at`) WHERE settled = 0;--> statement-breakpoint
ALTER TABLE `integrations` ADD `pull_requests` text DEFAULT '{"enabled":false,"draft":false,"target_branch":null,"remote":null,"fork":null,"labels":[],"reviewers":[],"title":null,"body":null,"delete_branch":false,"method":null,"auto_merge":false,"auto_fix":{"enabled":false,"max_rounds":10,"from":"members","also":[],"resolve":false}}' NOT NULL;--> statement-breakpoint
ALTER TABLE `integrations` ADD `write_back` text DEFAULT '{"comment":false,"close":false,"label":null,"follow":false}' NOT NULL;--> statement-breakpoint
ALTER TABLE `integrations` ADD `webhook_secret_ref` text;--> statement-breakpoint
ALTER TABLE `integrations` ADD `can` text DEFAULT '{"checks":null,"logs":null,"rerun":null,"reply":null,"resolve":null,"draft":null,"auto_merge":null,"queue":null}' NOT NULL;--> statement-breakpoint
ALTER TABLE `integrations` ADD `token_expires_at` text;