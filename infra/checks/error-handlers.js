// A lint rule: what can emit `error` by itself has a listener for it. Node ends a process for an error that has none.

/** What makes such an emitter, by the module that it is imported from. */
const makers = new Map(
  Object.entries({
    'node:child_process': ['spawn', 'fork', 'exec', 'execFile'],
    'node:cluster': ['fork'],
    'node:dgram': ['createSocket'],
    'node:fs': ['createReadStream', 'createWriteStream'],
    'node:http': ['createServer', 'request', 'get'],
    'node:https': ['createServer', 'request', 'get'],
    'node:net': ['createServer', 'createConnection', 'connect', 'Socket', 'Server'],
    'node:tls': ['createServer', 'connect', 'TLSSocket'],
    'node:worker_threads': ['Worker'],
    pg: ['Client', 'Pool'],
  }),
)

/** These reject or call back with the error of a stream that is passed to them. */
const takers = new Set(['pipeline', 'finished', 'text', 'json', 'buffer'])

export const errorHandlers = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      missing:
        "Add an 'error' listener in this file: an error of this emitter would otherwise end the process.",
      connection:
        'Use Connection, withConnection or createPool of projections/database: they cannot end the process.',
    },
  },
  create(context) {
    const { sourceCode } = context
    /** The local names of makers and of whole modules. */
    const names = new Map()
    const modules = new Map()

    function check(node) {
      const made = nameOf(node.callee)
      if (made === undefined) return
      if (made.module === 'pg') {
        if (!takesConnection(node)) context.report({ node, messageId: 'connection' })
        return
      }
      if (!isHandled(node)) context.report({ node, messageId: 'missing' })
    }

    function nameOf(callee) {
      if (callee.type === 'Identifier') return names.get(callee.name)
      if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return undefined
      const module = modules.get(callee.object.name)
      const isMaker = module !== undefined && makers.get(module).includes(callee.property.name)
      return isMaker ? { module } : undefined
    }

    /** A pool that makes connections of the class that listens. */
    const takesConnection = ({ arguments: [options] }) =>
      options?.properties?.some(({ key, value }) => key?.name === 'Client' && value.name === 'Connection') ===
      true

    function isHandled(node) {
      let { parent } = node
      while (/^(TSAsExpression|ConditionalExpression|AwaitExpression)$/.test(parent.type))
        parent = parent.parent
      // The loop throws the error.
      if (parent.type === 'ForOfStatement') return true
      if (parent.type === 'MemberExpression')
        return /^(on|once)$/.test(parent.property.name) && listens(parent.parent)
      if (parent.type === 'CallExpression' && parent.callee.type === 'Identifier')
        return takers.has(parent.callee.name)
      const holder = parent.type === 'VariableDeclarator' ? parent.id : parent.left
      if (holder?.type !== 'Identifier') return false
      const name = holder.name
      return new RegExp(
        `\\b${name}\\b(?:\\?)?[^;]{0,200}?\\.(?:on|once)\\(\\s*'error'|\\b(?:${[...takers].join('|')})\\([^)]*\\b${name}\\b`,
      ).test(sourceCode.text)
    }

    const listens = (call) => call.type === 'CallExpression' && call.arguments[0]?.value === 'error'

    return {
      ImportDeclaration({ source, specifiers }) {
        if (!makers.has(source.value)) return
        for (const { type, imported, local } of specifiers) {
          if (type !== 'ImportSpecifier') modules.set(local.name, source.value)
          else if (makers.get(source.value).includes(imported.name))
            names.set(local.name, { module: source.value })
        }
      },
      CallExpression: check,
      NewExpression: check,
    }
  },
}
