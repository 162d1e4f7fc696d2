CREATE TABLE `task_words` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`task_id` text NOT NULL,
	`words` text NOT NULL,
	FOREIGN KEY (`task_id`) REFERENCES `tasks`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `task_words_by_task` ON `task_words` (`task_id`);--> statement-breakpoint
CREATE TABLE `usage_sums` (
	`project_id` text NOT NULL,
	`kind` text NOT NULL,
	`key` text NOT NULL,
	`executions` integer NOT NULL,
	`input_tokens` integer NOT NULL,
	`output_tokens` integer NOT NULL,
	`costs` integer NOT NULL,
	`cost_usd` real NOT NULL,
	PRIMARY KEY(`project_id`, `kind`, `key`)
) STRICT;
--> statement-breakpoint
CREATE INDEX `usage_sums_by_size` ON `usage_sums` (`project_id`,`kind`,"input_tokens" + "output_tokens");--> statement-breakpoint
DROP INDEX `executions_open`;--> statement-breakpoint
CREATE INDEX `executions_open` ON `executions` (`id`,`task_id`,`project_id`,`role`,`agent_id`,`status`,`dispatched`,`created_at`,"overrides" ->> '$.message' IS NOT NULL) WHERE status IN ('queued', 'running');--> statement-breakpoint
DROP INDEX `tasks_by_status`;--> statement-breakpoint
DROP INDEX `tasks_by_parent`;--> statement-breakpoint
CREATE INDEX `tasks_in_order` ON `tasks` (`project_id`,`position`,`id`);--> statement-breakpoint
CREATE INDEX `tasks_by_repo` ON `tasks` (`repo_id`,`id`);--> statement-breakpoint
CREATE INDEX `tasks_by_status` ON `tasks` (`project_id`,`status`,`archived`,`position`,`id`);--> statement-breakpoint
CREATE INDEX `tasks_by_parent` ON `tasks` (`parent_id`,`position`,`id`);--> statement-breakpoint
ALTER TABLE `projects` ADD `deletion` text;--> statement-breakpoint
CREATE VIRTUAL TABLE `task_text` USING fts5(words, content='task_words', content_rowid='number', tokenize='ascii');--> statement-breakpoint
INSERT INTO task_text (task_text, rank) VALUES ('secure-delete', 1);--> statement-breakpoint
CREATE TRIGGER `task_text_insert` AFTER INSERT ON `task_words` BEGIN
	INSERT INTO task_text (rowid, words) VALUES (new.number, new.words);
END;--> statement-breakpoint
CREATE TRIGGER `task_text_delete` AFTER DELETE ON `task_words` BEGIN
	INSERT INTO task_text (task_text, rowid, words) VALUES ('delete', old.number, old.words);
END;--> statement-breakpoint
CREATE TRIGGER `task_text_update` AFTER UPDATE OF words ON `task_words` BEGIN
	INSERT INTO task_text (task_text, rowid, words) VALUES ('delete', old.number, old.words);
	INSERT INTO task_text (rowid, words) VALUES (new.number, new.words);
END;--> statement-breakpoint
CREATE TRIGGER `task_words_insert` AFTER INSERT ON `tasks` BEGIN
	INSERT INTO task_words (task_id, words) VALUES (new.id, search_words(new.title, new.description));
END;--> statement-breakpoint
CREATE TRIGGER `task_words_update` AFTER UPDATE OF title, description ON `tasks`
WHEN old.title IS NOT new.title OR old.description IS NOT new.description BEGIN
	UPDATE task_words SET words = search_words(new.title, new.description) WHERE task_id = new.id;
END;--> statement-breakpoint
INSERT INTO task_words (task_id, words) SELECT id, search_words(title, description) FROM tasks;--> statement-breakpoint
CREATE TRIGGER `usage_sums_add` AFTER INSERT ON `executions` WHEN new.usage IS NOT NULL BEGIN
	INSERT INTO usage_sums (project_id, kind, key, executions, input_tokens, output_tokens, costs, cost_usd)
	SELECT new.project_id, kind, key, 1, coalesce(new.usage ->> 'input_tokens', 0), coalesce(new.usage ->> 'output_tokens', 0),
		new.usage ->> 'cost_usd' IS NOT NULL, coalesce(new.usage ->> 'cost_usd', 0)
	FROM (SELECT 'agent' AS kind, coalesce(new.agent_id, '') AS key UNION ALL SELECT 'task', new.task_id) WHERE true
	ON CONFLICT (project_id, kind, key) DO UPDATE SET
		executions = executions + 1, input_tokens = input_tokens + excluded.input_tokens,
		output_tokens = output_tokens + excluded.output_tokens, costs = costs + excluded.costs,
		cost_usd = cost_usd + excluded.cost_usd;
END;--> statement-breakpoint
CREATE TRIGGER `usage_sums_remove` AFTER DELETE ON `executions` WHEN old.usage IS NOT NULL BEGIN
	UPDATE usage_sums SET
		executions = executions - 1, input_tokens = input_tokens - coalesce(old.usage ->> 'input_tokens', 0),
		output_tokens = output_tokens - coalesce(old.usage ->> 'output_tokens', 0),
		costs = costs - (old.usage ->> 'cost_usd' IS NOT NULL), cost_usd = cost_usd - coalesce(old.usage ->> 'cost_usd', 0)
	WHERE project_id = old.project_id AND (kind, key) IN (VALUES ('agent', coalesce(old.agent_id, '')), ('task', old.task_id));
	DELETE FROM usage_sums WHERE project_id = old.project_id AND executions = 0
		AND (kind, key) IN (VALUES ('agent', coalesce(old.agent_id, '')), ('task', old.task_id));
END;--> statement-breakpoint
CREATE TRIGGER `usage_sums_change` AFTER UPDATE OF usage ON `executions` WHEN old.usage IS NOT new.usage BEGIN
	UPDATE usage_sums SET
		executions = executions - (old.usage IS NOT NULL) + (new.usage IS NOT NULL),
		input_tokens = input_tokens - coalesce(old.usage ->> 'input_tokens', 0) + coalesce(new.usage ->> 'input_tokens', 0),
		output_tokens = output_tokens - coalesce(old.usage ->> 'output_tokens', 0) + coalesce(new.usage ->> 'output_tokens', 0),
		costs = costs - coalesce(old.usage ->> 'cost_usd' IS NOT NULL, 0) + coalesce(new.usage ->> 'cost_usd' IS NOT NULL, 0),
		cost_usd = cost_usd - coalesce(old.usage ->> 'cost_usd', 0) + coalesce(new.usage ->> 'cost_usd', 0)
	WHERE project_id = new.project_id AND (kind, key) IN (VALUES ('agent', coalesce(new.agent_id, '')), ('task', new.task_id));
	DELETE FROM usage_sums WHERE project_id = new.project_id AND executions = 0
		AND (kind, key) IN (VALUES ('agent', coalesce(new.agent_id, '')), ('task', new.task_id));
	INSERT INTO usage_sums (project_id, kind, key, executions, input_tokens, output_tokens, costs, cost_usd)
	SELECT new.project_id, kind, key, 1, coalesce(new.usage ->> 'input_tokens', 0), coalesce(new.usage ->> 'output_tokens', 0),
		new.usage ->> 'cost_usd' IS NOT NULL, coalesce(new.usage ->> 'cost_usd', 0)
	FROM (SELECT 'agent' AS kind, coalesce(new.agent_id, '') AS key UNION ALL SELECT 'task', new.task_id)
	WHERE new.usage IS NOT NULL
	ON CONFLICT (project_id, kind, key) DO NOTHING;
END;--> statement-breakpoint
INSERT INTO usage_sums (project_id, kind, key, executions, input_tokens, output_tokens, costs, cost_usd)
SELECT project_id, kind, key, count(*), sum(coalesce(usage ->> 'input_tokens', 0)), sum(coalesce(usage ->> 'output_tokens', 0)),
	count(usage ->> 'cost_usd'), total(usage ->> 'cost_usd')
FROM (
	SELECT project_id, 'agent' AS kind, coalesce(agent_id, '') AS key, usage FROM executions WHERE usage IS NOT NULL
	UNION ALL SELECT project_id, 'task', task_id, usage FROM executions WHERE usage IS NOT NULL
) GROUP BY project_id, kind, key;

