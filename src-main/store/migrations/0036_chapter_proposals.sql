CREATE TABLE `chapter_proposals` (
	`task_id` text PRIMARY KEY NOT NULL,
	`tree` text NOT NULL,
	`proposed_by` text NOT NULL,
	`chapters` text NOT NULL,
	`rejected` text,
	FOREIGN KEY (`task_id`) REFERENCES `tasks`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
