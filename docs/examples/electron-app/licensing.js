import { hostname } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@keyledger/client'
import { fileStorage, identifyDevice } from '@keyledger/client/node'
import { protectedStorage } from './protected-storage.js'

/**
 * The licensing of the main process. It needs nothing of Electron but what it is given, so tests run it in Node.
 * @param show sends a state to the window, and `tell` a notice
 * @param openPage opens a page in the browser of the user, where they choose a license; `showCode` shows the code beside it
 * @param system the `fetch` of Electron, and its `safeStorage` where the system has a key store
 */
export function startLicensing({
  ipcMain,
  folder,
  show,
  tell,
  openPage,
  showCode,
  system = {},
  env = process.env,
}) {
  const { safeStorage, ...network } = system
  const file = fileStorage(join(folder, 'license.json'))
  const client = createClient({
    baseUrl: env.LICENSE_SERVER ?? 'http://localhost:8080',
    tenantId: env.TENANT ?? 'demo',
    productId: env.PRODUCT ?? 'demo-app',
    sdkKey: env.SDK_KEY ?? '',
    storage: safeStorage ? protectedStorage(file, safeStorage) : file,
    ...network,
    deviceName: hostname(),
    identity: identifyDevice,
    platform: env.PLATFORM ?? process.platform,
  })
  ipcMain.handle('license:activate', (_event, key) => client.activate(String(key)))
  ipcMain.handle('license:browser', () =>
    client.activateInBrowser(({ url, code }) => {
      openPage(url)
      showCode(code)
    }),
  )
  ipcMain.handle('license:deactivate', () => client.deactivate())
  ipcMain.handle('license:trial', () => client.startTrial())
  ipcMain.handle('license:purchased', () => client.refreshAfterPurchase())
  ipcMain.handle('license:state', () => client.state())
  client.subscribe(show)
  client.onNotice(tell)
  return { client, ready: client.start() }
}
