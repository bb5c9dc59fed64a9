/**
 * Node's HTTP, without what an `import` of it loads. An import reads all exports of a module, and one of Node's is a WebSocket,
 * with which 3 MB of memory and 40 ms come to each start.
 */
export const http = process.getBuiltinModule('node:http')
export const https = process.getBuiltinModule('node:https')
