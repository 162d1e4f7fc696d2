CREATE TABLE `runner_trust` (
	`runner_id` text NOT NULL,
	`project_id` text NOT NULL,
	`sha256` text NOT NULL,
	`trusted_by` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`runner_id`, `project_id`, `sha256`),
	FOREIGN KEY (`runner_id`) REFERENCES `runners`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
