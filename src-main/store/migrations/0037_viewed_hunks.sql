CREATE TABLE `viewed_hunks` (
	`task_id` text NOT NULL,
	`reader` text NOT NULL,
	`hunk` text NOT NULL,
	`path` text NOT NULL,
	PRIMARY KEY(`task_id`, `reader`, `hunk`),
	FOREIGN KEY (`task_id`) REFERENCES `tasks`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
