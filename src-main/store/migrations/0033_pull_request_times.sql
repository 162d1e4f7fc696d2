ALTER TABLE `pull_requests` ADD `head_since` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `pull_requests` ADD `rounds_since` text;