import { join } from 'node:path'
import { app, BrowserWindow, ipcMain } from 'electron'
import { startLicensing } from './licensing.js'

app.whenReady().then(async () => {
  const window = new BrowserWindow({
    webPreferences: { preload: join(import.meta.dirname, 'preload.cjs') },
  })
  const show = (state) => window.webContents.send('license:changed', state)
  await startLicensing({ ipcMain, folder: app.getPath('userData'), show }).ready
  await window.loadFile('index.html')
})
app.on('window-all-closed', () => app.quit())
