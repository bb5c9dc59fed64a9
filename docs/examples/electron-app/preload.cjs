const { contextBridge, ipcRenderer } = require('electron')

// The window gets these calls and nothing else: neither the license key nor the network.
contextBridge.exposeInMainWorld('license', {
  activate: (key) => ipcRenderer.invoke('license:activate', key),
  chooseInBrowser: () => ipcRenderer.invoke('license:browser'),
  deactivate: () => ipcRenderer.invoke('license:deactivate'),
  startTrial: () => ipcRenderer.invoke('license:trial'),
  purchased: () => ipcRenderer.invoke('license:purchased'),
  state: () => ipcRenderer.invoke('license:state'),
  onChange: (listener) => ipcRenderer.on('license:changed', (_event, state) => listener(state)),
  onCode: (listener) => ipcRenderer.on('license:code', (_event, code) => listener(code)),
  onNotice: (listener) => ipcRenderer.on('license:notice', (_event, notice) => listener(notice)),
})
