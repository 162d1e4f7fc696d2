ALTER TABLE `workspaces` ADD `port_base` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `workspaces_by_port_base` ON `workspaces` (`port_base`);