import { hostname } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@keyledger/client'
import { fileStorage, identifyDevice } from '@keyledger/client/node'

/**
 * The licensing of the main process. It needs nothing of Electron but its `ipcMain`, so tests run it in Node.
 * @param show sends a state to the window
 */
export function startLicensing({ ipcMain, folder, show, env = process.env }) {
  const client = createClient({
    baseUrl: env.LICENSE_SERVER ?? 'http://localhost:8080',
    tenantId: env.TENANT ?? 'demo',
    productId: env.PRODUCT ?? 'demo-app',
    sdkKey: env.SDK_KEY ?? '',
    storage: fileStorage(join(folder, 'license.json')),
    deviceName: hostname(),
    identity: identifyDevice,
    platform: env.PLATFORM ?? process.platform,
  })
  ipcMain.handle('license:activate', (_event, key) => client.activate(String(key)))
  ipcMain.handle('license:deactivate', () => client.deactivate())
  ipcMain.handle('license:trial', () => client.startTrial())
  ipcMain.handle('license:state', () => client.state())
  client.subscribe(show)
  return { client, ready: client.start() }
}
