/** Names of variables whose values are credentials. */
const credential = /KEY|SECRET|TOKEN|PASS|IDENTITY/
/** Values that are credentials wherever they were put by mistake. */
const pastedCredential = /^(?:kl_|sk_|rk_|pk_|whsec_)|-----BEGIN|\/\/[^/]*@/

const maxShownLength = 60

/**
 * What a variable held, for a message that says why it is refused. Credentials are never shown; of an address only the
 * protocol is, because the rest may hold a password.
 */
export function shownValue(name: string, value: string): string {
  if (name.endsWith('_URL')) {
    const protocol = /^[a-z][a-z0-9+.-]{0,20}:\/\//i.exec(value)?.[0]
    return protocol === undefined ? 'a value without ://' : `a URL that begins with ${protocol}`
  }
  if (credential.test(name.replace(/^KEYLEDGER_/, '')) || pastedCredential.test(value))
    return `a value of length ${value.length}, which is not shown`
  const short = value.length > maxShownLength ? `${value.slice(0, maxShownLength)}…` : value
  return JSON.stringify(short)
}
