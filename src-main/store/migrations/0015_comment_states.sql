ALTER TABLE `comments` ADD `sent` text;--> statement-breakpoint
ALTER TABLE `comments` ADD `answer` text;