// Checks an archive of evidence with nothing but Node and the vendor's public key:
//
//   node verify-evidence.mjs evidence.zip <public key, base64>
//
// The key stands under its `kid` in https://<server>/<tenant>/.well-known/service-keys, while it is published, and in
// `keyledger keys list --tenant <id>` for ever. Every byte of the archive is accounted for: it has to be exactly what the
// format makes of the files, the manifest has to name each with its SHA-256, and the manifest has to be signed.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { crc32 } from 'node:zlib'

/** @returns the manifest. @throws Error that says what is wrong */
export function verifyEvidence(archive, publicKey) {
  const files = filesIn(archive)
  const contents = new Map(files.map(({ name, content }) => [name, content]))
  const [manifestFile, signatureFile] = files.slice(-2)
  if (manifestFile?.name !== 'manifest.json' || signatureFile?.name !== 'signature.json') {
    throw new Error('the archive does not end with manifest.json and signature.json')
  }
  if (contents.size !== files.length) throw new Error('two files have the same name')

  const raw = Buffer.from(publicKey, 'base64')
  const kid = sha256(raw).slice(0, 16)
  const manifest = JSON.parse(manifestFile.content.toString('utf8'))
  const signed = JSON.parse(signatureFile.content.toString('utf8'))
  if (signed.kid !== kid) throw new Error(`it is signed with the key ${signed.kid}, not with ${kid}`)
  const signature = Buffer.from(signed.signature, 'base64')
  const canonical = `${JSON.stringify({ kid, signature: signature.toString('base64') })}\n`
  if (signatureFile.content.toString('latin1') !== canonical) throw new Error('signature.json was changed')
  const text = `evidence1|${kid}|${manifest.tenantId}|${manifest.licenseId}|${sha256(manifestFile.content)}`
  // What stands before the 32 bytes of an Ed25519 key in its DER form.
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw])
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  if (!verify(null, Buffer.from(text), key, signature)) throw new Error('the signature is not valid')

  const named = files.slice(0, -2)
  if (manifest.files.length !== named.length) throw new Error('the files do not match the manifest')
  for (const [index, { name, size, sha256: digest }] of manifest.files.entries()) {
    const file = named[index]
    if (file.name !== name || file.content.length !== size || sha256(file.content) !== digest) {
      throw new Error(`${name} was changed`)
    }
  }
  return manifest
}

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex')

/** The files of the archive, which is refused unless it is, byte for byte, what they make. */
function filesIn(archive) {
  const files = []
  const directory = []
  let at = 0
  while (archive.length >= at + 30 && archive.readUInt32LE(at) === 0x04034b50) {
    const size = archive.readUInt32LE(at + 22)
    const begins = at + 30 + archive.readUInt16LE(at + 26)
    const path = archive.subarray(at + 30, begins)
    const content = archive.subarray(begins, begins + size)
    if (content.length < size) throw new Error('the archive is truncated')
    const facts = Buffer.concat([
      uint16(10, 0x0800, 0, 0, 0x0021),
      uint32(crc32(content), size, size),
      uint16(path.length, 0),
    ])
    if (!archive.subarray(at + 4, at + 30).equals(facts)) throw new Error('a header was changed')
    directory.push(Buffer.concat([uint32(0x02014b50), uint16(10), facts, Buffer.alloc(10), uint32(at), path]))
    files.push({ name: path.toString('utf8'), content })
    at = begins + size
  }
  const entries = Buffer.concat(directory)
  const counted = uint16(files.length, files.length)
  const end = Buffer.concat([uint32(0x06054b50, 0), counted, uint32(entries.length, at), uint16(0)])
  if (!archive.subarray(at).equals(Buffer.concat([entries, end]))) {
    throw new Error('the directory of the archive was changed')
  }
  return files
}

function uint16(...values) {
  const bytes = Buffer.alloc(2 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, 2 * index)
  return bytes
}

function uint32(...values) {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, 4 * index)
  return bytes
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [path, publicKey] = process.argv.slice(2)
  if (!path || !publicKey) {
    process.stderr.write('usage: node verify-evidence.mjs evidence.zip <public key, base64>\n')
    process.exit(2)
  }
  try {
    const { licenseId, tenantId, files } = verifyEvidence(readFileSync(path), publicKey)
    const about = `the license ${licenseId} of ${tenantId}`
    process.stdout.write(`Genuine: ${files.length} files on ${about}, signed by its vendor.\n`)
  } catch (error) {
    process.stderr.write(`NOT GENUINE: ${error.message}\n`)
    process.exit(1)
  }
}
