ALTER TABLE `tasks` ADD `created_under` text;--> statement-breakpoint
ALTER TABLE `tasks` ADD `held_to` text;