/** The reason on every button and in every menu while the connection is lost. */
export const changesAreOff = 'Changes are off until Copse reconnects'
