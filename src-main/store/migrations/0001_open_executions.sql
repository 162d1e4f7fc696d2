DROP INDEX `executions_open`;--> statement-breakpoint
CREATE INDEX `executions_open` ON `executions` (`id`) WHERE status IN ('queued', 'running');