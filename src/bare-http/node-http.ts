/**
 * Node's HTTP, taken without an `import`. Importing it would evaluate all of its exports, among them a WebSocket client, which adds
 * 3 MB of memory and 40 ms to each start.
 */
export const http = process.getBuiltinModule('node:http')
export const https = process.getBuiltinModule('node:https')
