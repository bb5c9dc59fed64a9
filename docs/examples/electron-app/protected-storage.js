/**
 * Keeps what the client stores encrypted with a key of the system's key store, by Electron's `safeStorage`: the Keychain on macOS, DPAPI
 * on Windows, the Secret Service on Linux. Another user of the machine, or another machine, cannot read it. What cannot be read counts as
 * a storage without a license.
 */
export const protectedStorage = (storage, safeStorage) => ({
  async read() {
    const text = await storage.read()
    return text === undefined ? undefined : safeStorage.decryptString(Buffer.from(text, 'base64'))
  },
  write: (text) => storage.write(safeStorage.encryptString(text).toString('base64')),
})
