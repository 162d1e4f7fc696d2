DROP INDEX `knowledge_by_project`;--> statement-breakpoint
ALTER TABLE `knowledge` ADD `status` text DEFAULT 'accepted' NOT NULL;--> statement-breakpoint
ALTER TABLE `knowledge` ADD `accepted_by` text;--> statement-breakpoint
CREATE INDEX `knowledge_by_project` ON `knowledge` (`project_id`,`status`,`created_at`,`id`);