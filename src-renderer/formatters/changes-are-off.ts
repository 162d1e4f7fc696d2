/** Why nothing can be changed while the connection is lost, on every button and in every menu. */
export const changesAreOff = 'Changes are off until Copse reconnects'
