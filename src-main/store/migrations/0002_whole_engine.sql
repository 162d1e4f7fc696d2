CREATE TABLE `comments` (
	`id` text PRIMARY KEY NOT NULL,
	`task_id` text NOT NULL,
	`parent_id` text,
	`author` text NOT NULL,
	`body` text NOT NULL,
	`anchor` text,
	`resolved_at` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`task_id`) REFERENCES `tasks`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`parent_id`) REFERENCES `comments`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `comments_by_task` ON `comments` (`task_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `comments_by_parent` ON `comments` (`parent_id`);--> statement-breakpoint
CREATE TABLE `knowledge` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_id` text NOT NULL,
	`title` text NOT NULL,
	`body` text NOT NULL,
	`source_by` text NOT NULL,
	`source_task_id` text,
	`source_execution_id` text,
	`edited_by` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`source_task_id`) REFERENCES `tasks`(`id`) ON UPDATE no action ON DELETE set null,
	FOREIGN KEY (`source_execution_id`) REFERENCES `executions`(`id`) ON UPDATE no action ON DELETE set null
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `knowledge_by_id` ON `knowledge` (`id`);--> statement-breakpoint
CREATE INDEX `knowledge_by_project` ON `knowledge` (`project_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `knowledge_by_task` ON `knowledge` (`source_task_id`);--> statement-breakpoint
CREATE INDEX `knowledge_by_execution` ON `knowledge` (`source_execution_id`);--> statement-breakpoint
CREATE TABLE `knowledge_injections` (
	`task_id` text PRIMARY KEY NOT NULL,
	`text` text NOT NULL,
	FOREIGN KEY (`task_id`) REFERENCES `tasks`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE TABLE `notification_reads` (
	`notification_id` text NOT NULL,
	`reader` text NOT NULL,
	PRIMARY KEY(`notification_id`, `reader`),
	FOREIGN KEY (`notification_id`) REFERENCES `notifications`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE TABLE `notifications` (
	`id` text PRIMARY KEY NOT NULL,
	`event_type` text NOT NULL,
	`title` text NOT NULL,
	`body` text,
	`project_id` text NOT NULL,
	`task_id` text NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`task_id`) REFERENCES `tasks`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `notifications_by_time` ON `notifications` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `notifications_by_project` ON `notifications` (`project_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `notifications_by_task` ON `notifications` (`task_id`);--> statement-breakpoint
ALTER TABLE `executions` ADD `summary` text;--> statement-breakpoint
ALTER TABLE `reviews` ADD `head_commit` text;--> statement-breakpoint
ALTER TABLE `tasks` ADD `attended_mark` text;--> statement-breakpoint
CREATE INDEX `transitions_rejections` ON `transitions` (`task_id`,`from_state`,`id`) WHERE rejection = 1;--> statement-breakpoint
CREATE VIRTUAL TABLE `knowledge_text` USING fts5(title, body, content='knowledge', content_rowid='number', tokenize='porter unicode61 remove_diacritics 2');--> statement-breakpoint
CREATE TRIGGER `knowledge_text_insert` AFTER INSERT ON `knowledge` BEGIN
	INSERT INTO knowledge_text (rowid, title, body) VALUES (new.number, new.title, new.body);
END;--> statement-breakpoint
CREATE TRIGGER `knowledge_text_delete` AFTER DELETE ON `knowledge` BEGIN
	INSERT INTO knowledge_text (knowledge_text, rowid, title, body) VALUES ('delete', old.number, old.title, old.body);
END;--> statement-breakpoint
CREATE TRIGGER `knowledge_text_update` AFTER UPDATE OF title, body ON `knowledge` BEGIN
	INSERT INTO knowledge_text (knowledge_text, rowid, title, body) VALUES ('delete', old.number, old.title, old.body);
	INSERT INTO knowledge_text (rowid, title, body) VALUES (new.number, new.title, new.body);
END;--> statement-breakpoint
UPDATE `reviews` SET `verdicts` = (
	SELECT json_group_array(json_insert(value, '$.head_commit', json('null')) ORDER BY key) FROM json_each(`reviews`.`verdicts`)
) WHERE `verdicts` <> '[]';--> statement-breakpoint
UPDATE `tasks` SET `attended_mark` = (
	SELECT max(id) FROM `transitions` WHERE task_id = `tasks`.`id` AND triggered_by LIKE 'user:%'
);
