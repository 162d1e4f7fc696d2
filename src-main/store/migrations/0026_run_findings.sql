ALTER TABLE `reviews` ADD `empty` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `reviews` ADD `ignored` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `tasks` ADD `run_findings` text DEFAULT '{"notes":[],"places":[]}' NOT NULL;