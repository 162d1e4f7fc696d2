ALTER TABLE `comments` ADD `original` text;--> statement-breakpoint
ALTER TABLE `comments` ADD `applied` text;