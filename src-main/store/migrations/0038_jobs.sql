CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`runner_id` text NOT NULL,
	`task_id` text NOT NULL,
	`execution_id` text,
	`state` text NOT NULL,
	`fence` integer NOT NULL,
	`instance` text,
	`tokens` text NOT NULL,
	`spec` text,
	`ground` text NOT NULL,
	`inputs` text NOT NULL,
	`last_input` integer NOT NULL,
	`logs` text NOT NULL,
	`sent_bytes` integer NOT NULL,
	`stopping` integer NOT NULL,
	`finished_fence` integer,
	`over_at` text
) STRICT;
--> statement-breakpoint
CREATE INDEX `jobs_accepted` ON `jobs` (`id`) WHERE state = 'accepted';--> statement-breakpoint
CREATE INDEX `jobs_over` ON `jobs` (`over_at`) WHERE over_at IS NOT NULL;