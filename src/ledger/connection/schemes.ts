/** What the protocol has been called: its first name, and those of KurrentDB. */
const names = ['esdb', 'kurrentdb', 'kdb']

/** The schemes of an event store's address. */
export const storeSchemes: readonly string[] = [...names, ...names.map((name) => `${name}+discover`)]

/** The same address under the name that the client knows. */
export const underFirstName = (url: string): string =>
  url.replace(/^\s*(?:kurrentdb|kdb)(?=(?:\+discover)?:\/\/)/, 'esdb')
