ALTER TABLE `tasks` RENAME COLUMN `attended_mark` TO `last_human_action_id`;--> statement-breakpoint
ALTER TABLE `occasions` RENAME TO `pending_hooks`;--> statement-breakpoint
DROP INDEX `occasions_by_task`;--> statement-breakpoint
CREATE INDEX `pending_hooks_by_task` ON `pending_hooks` (`task_id`,`id`);--> statement-breakpoint
UPDATE `effects` SET `data` = json_remove(json_set(`data`, '$.blocked', json(`data` -> '$.held')), '$.held') WHERE `data` -> '$.held' IS NOT NULL;--> statement-breakpoint
UPDATE `effects` SET `data` = json_remove(json_set(`data`, '$.process_marker', `data` ->> '$.mark'), '$.mark') WHERE `data` -> '$.mark' IS NOT NULL;--> statement-breakpoint
UPDATE `effects` SET `data` = json_remove(json_set(`data`, '$.retry_steps', json(`data` -> '$.redo')), '$.redo') WHERE `data` -> '$.redo' IS NOT NULL;--> statement-breakpoint
UPDATE `pending_hooks` SET `data` = json_remove(json_set(`data`, '$.process_marker', `data` ->> '$.mark'), '$.mark') WHERE `data` -> '$.mark' IS NOT NULL;
