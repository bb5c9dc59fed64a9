import { join } from 'node:path'
import { app, BrowserWindow, ipcMain, net, safeStorage } from 'electron'
import { startLicensing } from './licensing.js'

app.whenReady().then(async () => {
  const window = new BrowserWindow({
    webPreferences: { preload: join(import.meta.dirname, 'preload.cjs') },
  })
  const show = (state) => window.webContents.send('license:changed', state)
  const tell = (notice) => window.webContents.send('license:notice', notice)
  // Through the proxy of the system, and encrypted where the system has a key store.
  const system = {
    fetch: (url, init) => net.fetch(url, init),
    safeStorage: safeStorage.isEncryptionAvailable() ? safeStorage : undefined,
  }
  await startLicensing({ ipcMain, folder: app.getPath('userData'), show, tell, system }).ready
  await window.loadFile('index.html')
})
app.on('window-all-closed', () => app.quit())
