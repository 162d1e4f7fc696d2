/** Looks which ports of the machine are in use. */
export interface PortProbe {
  /** Returns whether nothing on this machine uses any of these ports. */
  arePortsFree(ports: readonly number[]): Promise<boolean>
  /** Returns the ports on which something answers. */
  answeringPorts(ports: readonly number[]): Promise<readonly number[]>
}
