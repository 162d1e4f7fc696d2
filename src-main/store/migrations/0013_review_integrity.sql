CREATE TABLE `trusted_repositories` (
	`common` text PRIMARY KEY NOT NULL,
	`programs` text NOT NULL,
	`trusted_at` text NOT NULL
) STRICT;
--> statement-breakpoint
ALTER TABLE `executions` ADD `repository_state` text;--> statement-breakpoint
ALTER TABLE `reviews` ADD `changed_by_steps` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `reviews` ADD `notes` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `reviews` ADD `config_changes` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `tasks` ADD `repository_changes` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `tasks` ADD `review_config_changes` text DEFAULT '[]' NOT NULL;