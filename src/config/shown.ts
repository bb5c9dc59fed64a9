/** Names of variables that hold credentials. */
const credential = /KEY|SECRET|TOKEN|PASS|IDENTITY/
/** Values that are credentials, also in a wrong variable. */
const pastedCredential = /^(?:kl_|sk_|rk_|pk_|whsec_)|-----BEGIN|\/\/[^/]*@/

const maxShownLength = 60

/**
 * A variable's value for an error message. Credentials are never shown; of a URL only the protocol is, because
 * the rest may contain a password.
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
