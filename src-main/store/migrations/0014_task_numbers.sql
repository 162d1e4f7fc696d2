CREATE TABLE `task_numbers` (
	`project_id` text PRIMARY KEY NOT NULL,
	`last` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
ALTER TABLE `projects` ADD `key` text DEFAULT '' NOT NULL;--> statement-breakpoint
UPDATE `projects` SET `key` = keys.value FROM json_each(derive_keys(
	(SELECT json_group_array(json_array(id, name)) FROM (SELECT id, name FROM projects ORDER BY created_at, id))
)) AS keys WHERE keys.key = projects.id;--> statement-breakpoint
CREATE UNIQUE INDEX `projects_by_key` ON `projects` (`key`);--> statement-breakpoint
ALTER TABLE `tasks` ADD `number` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `tasks` SET `number` = numbered.number FROM (
	SELECT id, row_number() OVER (PARTITION BY project_id ORDER BY created_at, id) AS number FROM tasks
) AS numbered WHERE numbered.id = tasks.id;--> statement-breakpoint
INSERT INTO `task_numbers` (`project_id`, `last`) SELECT project_id, max(number) FROM tasks GROUP BY project_id;--> statement-breakpoint
CREATE UNIQUE INDEX `tasks_by_number` ON `tasks` (`project_id`,`number`);