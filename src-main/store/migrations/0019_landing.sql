CREATE TABLE `base_health` (
	`repo_id` text NOT NULL,
	`branch` text NOT NULL,
	`commit_id` text NOT NULL,
	`health` text NOT NULL,
	`last_green` text,
	`step` text,
	`exit_code` integer,
	`output_tail` text NOT NULL,
	`checked_at` text NOT NULL,
	PRIMARY KEY(`repo_id`, `branch`),
	FOREIGN KEY (`repo_id`) REFERENCES `repos`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
