ALTER TABLE `usage_sums` ADD `partial` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_sums` ADD `counted` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_sums` ADD `turns` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
DROP TRIGGER `usage_sums_add`;--> statement-breakpoint
DROP TRIGGER `usage_sums_remove`;--> statement-breakpoint
DROP TRIGGER `usage_sums_change`;--> statement-breakpoint
CREATE TRIGGER `usage_sums_add` AFTER INSERT ON `executions` WHEN new.usage IS NOT NULL BEGIN
	INSERT INTO usage_sums (project_id, kind, key, executions, input_tokens, output_tokens, costs, cost_usd, partial, counted, turns)
	SELECT new.project_id, kind, key, 1, coalesce(new.usage ->> 'input_tokens', 0), coalesce(new.usage ->> 'output_tokens', 0), new.usage ->> 'cost_usd' IS NOT NULL,
		coalesce(new.usage ->> 'cost_usd', 0), coalesce(new.usage ->> 'incomplete', 0),
		coalesce(new.usage ->> 'input_tokens', new.usage ->> 'output_tokens') IS NOT NULL, new.usage ->> 'turns' IS NOT NULL
	FROM (SELECT 'agent' AS kind, coalesce(new.agent_id, '') AS key UNION ALL SELECT 'task', new.task_id) WHERE true
	ON CONFLICT (project_id, kind, key) DO UPDATE SET
		executions = executions + 1,
		input_tokens = input_tokens + excluded.input_tokens,
		output_tokens = output_tokens + excluded.output_tokens,
		costs = costs + excluded.costs,
		cost_usd = cost_usd + excluded.cost_usd,
		partial = partial + excluded.partial,
		counted = counted + excluded.counted,
		turns = turns + excluded.turns;
END;--> statement-breakpoint
CREATE TRIGGER `usage_sums_remove` AFTER DELETE ON `executions` WHEN old.usage IS NOT NULL BEGIN
	UPDATE usage_sums SET
		executions = executions - 1,
		input_tokens = input_tokens - coalesce(old.usage ->> 'input_tokens', 0),
		output_tokens = output_tokens - coalesce(old.usage ->> 'output_tokens', 0),
		costs = costs - (old.usage ->> 'cost_usd' IS NOT NULL),
		cost_usd = cost_usd - coalesce(old.usage ->> 'cost_usd', 0),
		partial = partial - coalesce(old.usage ->> 'incomplete', 0),
		counted = counted - (coalesce(old.usage ->> 'input_tokens', old.usage ->> 'output_tokens') IS NOT NULL),
		turns = turns - (old.usage ->> 'turns' IS NOT NULL)
	WHERE project_id = old.project_id AND (kind, key) IN (VALUES ('agent', coalesce(old.agent_id, '')), ('task', old.task_id));
	DELETE FROM usage_sums WHERE project_id = old.project_id AND executions = 0
		AND (kind, key) IN (VALUES ('agent', coalesce(old.agent_id, '')), ('task', old.task_id));
END;--> statement-breakpoint
CREATE TRIGGER `usage_sums_change` AFTER UPDATE OF usage ON `executions` WHEN old.usage IS NOT new.usage BEGIN
	UPDATE usage_sums SET
		executions = executions - (old.usage IS NOT NULL) + (new.usage IS NOT NULL),
		input_tokens = input_tokens - coalesce(old.usage ->> 'input_tokens', 0) + coalesce(new.usage ->> 'input_tokens', 0),
		output_tokens = output_tokens - coalesce(old.usage ->> 'output_tokens', 0) + coalesce(new.usage ->> 'output_tokens', 0),
		costs = costs - (old.usage ->> 'cost_usd' IS NOT NULL) + (new.usage ->> 'cost_usd' IS NOT NULL),
		cost_usd = cost_usd - coalesce(old.usage ->> 'cost_usd', 0) + coalesce(new.usage ->> 'cost_usd', 0),
		partial = partial - coalesce(old.usage ->> 'incomplete', 0) + coalesce(new.usage ->> 'incomplete', 0),
		counted = counted - (coalesce(old.usage ->> 'input_tokens', old.usage ->> 'output_tokens') IS NOT NULL) + (coalesce(new.usage ->> 'input_tokens', new.usage ->> 'output_tokens') IS NOT NULL),
		turns = turns - (old.usage ->> 'turns' IS NOT NULL) + (new.usage ->> 'turns' IS NOT NULL)
	WHERE project_id = new.project_id AND (kind, key) IN (VALUES ('agent', coalesce(new.agent_id, '')), ('task', new.task_id));
	DELETE FROM usage_sums WHERE project_id = new.project_id AND executions = 0
		AND (kind, key) IN (VALUES ('agent', coalesce(new.agent_id, '')), ('task', new.task_id));
	INSERT INTO usage_sums (project_id, kind, key, executions, input_tokens, output_tokens, costs, cost_usd, partial, counted, turns)
	SELECT new.project_id, kind, key, 1, coalesce(new.usage ->> 'input_tokens', 0), coalesce(new.usage ->> 'output_tokens', 0), new.usage ->> 'cost_usd' IS NOT NULL,
		coalesce(new.usage ->> 'cost_usd', 0), coalesce(new.usage ->> 'incomplete', 0),
		coalesce(new.usage ->> 'input_tokens', new.usage ->> 'output_tokens') IS NOT NULL, new.usage ->> 'turns' IS NOT NULL
	FROM (SELECT 'agent' AS kind, coalesce(new.agent_id, '') AS key UNION ALL SELECT 'task', new.task_id)
	WHERE new.usage IS NOT NULL
	ON CONFLICT (project_id, kind, key) DO NOTHING;
END;--> statement-breakpoint
DELETE FROM usage_sums;--> statement-breakpoint
INSERT INTO usage_sums (project_id, kind, key, executions, input_tokens, output_tokens, costs, cost_usd, partial, counted, turns)
SELECT project_id, kind, key, count(*), sum(coalesce(used.usage ->> 'input_tokens', 0)),
		sum(coalesce(used.usage ->> 'output_tokens', 0)),
		sum((used.usage ->> 'cost_usd' IS NOT NULL)),
		total(used.usage ->> 'cost_usd'),
		sum(coalesce(used.usage ->> 'incomplete', 0)),
		sum((coalesce(used.usage ->> 'input_tokens', used.usage ->> 'output_tokens') IS NOT NULL)),
		sum((used.usage ->> 'turns' IS NOT NULL))
FROM (
	SELECT project_id, 'agent' AS kind, coalesce(agent_id, '') AS key, usage FROM executions WHERE usage IS NOT NULL
	UNION ALL SELECT project_id, 'task', task_id, usage FROM executions WHERE usage IS NOT NULL
) AS used GROUP BY project_id, kind, key;
