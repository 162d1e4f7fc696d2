CREATE TABLE `viewed_files` (
	`task_id` text NOT NULL,
	`reader` text NOT NULL,
	`path` text NOT NULL,
	`blob` text,
	`new_mode` text,
	PRIMARY KEY(`task_id`, `reader`, `path`),
	FOREIGN KEY (`task_id`) REFERENCES `tasks`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
