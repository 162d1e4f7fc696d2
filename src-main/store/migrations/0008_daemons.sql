CREATE TABLE `daemons` (
	`id` text PRIMARY KEY NOT NULL,
	`token_hash` text NOT NULL,
	`name` text NOT NULL,
	`owner_id` text,
	`hostname` text,
	`version` text,
	`created_at` text NOT NULL,
	`last_seen_at` text,
	`revoked_at` text
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `daemons_token_hash_unique` ON `daemons` (`token_hash`);