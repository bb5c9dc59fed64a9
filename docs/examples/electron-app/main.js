import { join } from 'node:path'
import { app, BrowserWindow, ipcMain, net, safeStorage, shell } from 'electron'
import { startLicensing } from './licensing.js'

app.whenReady().then(async () => {
  const window = new BrowserWindow({
    webPreferences: { preload: join(import.meta.dirname, 'preload.cjs') },
  })
  const send = (what) => (value) => window.webContents.send(`license:${what}`, value)
  const to = {
    show: send('changed'),
    tell: send('notice'),
    showCode: send('code'),
    openPage: shell.openExternal,
  }
  // Through the proxy of the system, and encrypted where the system has a key store.
  const system = {
    fetch: (url, init) => net.fetch(url, init),
    safeStorage: safeStorage.isEncryptionAvailable() ? safeStorage : undefined,
  }
  await startLicensing({ ipcMain, folder: app.getPath('userData'), ...to, system }).ready
  await window.loadFile('index.html')
})
app.on('window-all-closed', () => app.quit())
