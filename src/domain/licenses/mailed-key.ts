/** The prefix of the names of keys in the vault that are kept only to be mailed. */
export const mailedKeyPrefix = 'mailed-key.'

/**
 * The name under which the vault keeps a key that its holder gets by mail: from just before the event that asks for the
 * mail until the mail was accepted, or was abandoned 30 days ago. The next key of the license has another name.
 */
export const mailedKeyName = (licenseId: string, keyHash: string): string =>
  `${mailedKeyPrefix}${licenseId}.${keyHash}`
