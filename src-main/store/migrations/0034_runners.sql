CREATE TABLE `runners` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`kind` text NOT NULL,
	`config` text,
	`projects` text,
	`capacity` integer,
	`grace_seconds` integer NOT NULL,
	`state` text NOT NULL,
	`last_error` text,
	`created_at` text NOT NULL
) STRICT;
--> statement-breakpoint
DROP INDEX `executions_open`;--> statement-breakpoint
ALTER TABLE `executions` ADD `runner_id` text;--> statement-breakpoint
ALTER TABLE `executions` ADD `attempt` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
INSERT INTO `runners` VALUES ('here', 'This machine', 'here', NULL, NULL, NULL, 600, 'ready', NULL, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));--> statement-breakpoint
UPDATE `executions` SET
	`runner_id` = CASE WHEN `started_at` IS NULL OR `executor` = 'external' THEN NULL ELSE 'here' END,
	`attempt` = (SELECT count(*) FROM `executions` AS `one` WHERE `one`.`task_id` = `executions`.`task_id` AND `one`.`role` = `executions`.`role` AND `one`.`id` <= `executions`.`id`);--> statement-breakpoint
CREATE INDEX `executions_open` ON `executions` (`id`,`task_id`,`project_id`,`role`,`agent_id`,`status`,`dispatched`,`created_at`,`retry_at`,`queue_rank`,`runner_id`,"overrides" ->> '$.message' IS NOT NULL,"overrides" ->> '$.runner_ids') WHERE status IN ('queued', 'running');--> statement-breakpoint
ALTER TABLE `workspaces` ADD `runner_id` text DEFAULT 'here' NOT NULL;