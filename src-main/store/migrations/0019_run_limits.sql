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
ALTER TABLE `executions` ADD `retry_at` text;--> statement-breakpoint
ALTER TABLE `tasks` ADD `limits` text;