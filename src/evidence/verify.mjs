// The verifier of keyledger for evidence archives, in one file. It needs Node 18 or later, and nothing else:
//
//   node verify.mjs [evidence.zip] --key <public key of the log>
//
// Generated from src/verifier of keyledger. License: Apache-2.0.

// src/verifier/archive-files.ts
import { createHash as createHash3 } from "node:crypto";

// src/transparency/note/note.ts
import { createHash } from "node:crypto";

// src/transparency/note/keys.ts
import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
var signatureTypes = { ed25519: 1, cosignature: 4 };
var publicKeyBytes = 32;
var signatureBytes = 64;
var isKeyName = (name) => name !== "" && !/[\s+]/u.test(name);
var privatePrefix = Buffer.from("302e020100300506032b657004220420", "hex");
var publicPrefix = Buffer.from("302a300506032b6570032100", "hex");
function verifyBytes(publicKey, message, signature) {
  if (signature.length !== signatureBytes) return false;
  const key = createPublicKey({ key: Buffer.concat([publicPrefix, publicKey]), format: "der", type: "spki" });
  return verify(null, message, key, signature);
}

// src/transparency/note/note.ts
var NoteError = class extends Error {
};
var keyIdBytes = 4;
var maxSignatures = 100;
var maxBytes = 1e6;
function parseNote(message) {
  if (message.length > maxBytes) throw new NoteError("the note is too long");
  if (!isWellFormed(message) || hasControl(message)) throw new NoteError("the note has forbidden characters");
  const end = message.lastIndexOf("\n\n");
  if (end === -1 || !message.endsWith("\n")) throw new NoteError("the note has no signatures");
  const lines = message.slice(end + 2, -1).split("\n");
  if (lines.length > maxSignatures) throw new NoteError("the note has too many signatures");
  return { text: message.slice(0, end + 1), signatures: lines.map(parseSignature) };
}
var isWellFormed = (text) => Buffer.from(text).toString() === text;
var hasControl = (text) => Array.from(text).some((character) => character < " " && character !== "\n");
function parseSignature(line) {
  const [dash, name = "", encoded = "", ...rest] = line.split(" ");
  const bytes = parseBase64(encoded);
  if (dash !== "—" || rest.length > 0 || !isKeyName(name) || !bytes || bytes.length <= keyIdBytes)
    throw new NoteError("the note has a malformed signature");
  return { name, keyId: bytes.subarray(0, keyIdBytes), signature: bytes.subarray(keyIdBytes) };
}
function keyIdOf(name, type, publicKey) {
  const hash = createHash("sha256").update(`${name}
`).update(Uint8Array.of(type)).update(publicKey);
  return hash.digest().subarray(0, keyIdBytes);
}
function parseBase64(encoded) {
  const bytes = Buffer.from(encoded, "base64");
  return bytes.toString("base64") === encoded ? bytes : void 0;
}

// src/transparency/tree/hash.ts
import { createHash as createHash2 } from "node:crypto";
var hashBytes = 32;
var leafPrefix = Uint8Array.of(0);
var nodePrefix = Uint8Array.of(1);
var leafHash = (record) => createHash2("sha256").update(leafPrefix).update(record).digest();
var nodeHash = (left, right) => createHash2("sha256").update(nodePrefix).update(left).update(right).digest();
var sameHash = (left, right) => Buffer.compare(left, right) === 0;

// src/transparency/tree/proof.ts
var ProofError = class extends Error {
};
function rootFromInclusion(leaf, index, size, proof) {
  if (!(index >= 0 && index < size)) throw new ProofError("the index is outside of the tree");
  let at = index;
  let last = size - 1;
  let hash = leaf;
  for (const sibling of proof) {
    if (last === 0) throw new ProofError("the proof is too long");
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(sibling, hash);
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      hash = nodeHash(hash, sibling);
    }
    ;
    [at, last] = [half(at), half(last)];
  }
  if (last !== 0) throw new ProofError("the proof is too short");
  return hash;
}
var half = (value) => Math.floor(value / 2);
function provesInclusion(leaf, index, tree, proof) {
  return holds(() => sameHash(rootFromInclusion(leaf, index, tree.size, proof), tree.root));
}
function holds(check) {
  try {
    return check();
  } catch (error) {
    if (error instanceof ProofError) return false;
    throw error;
  }
}

// src/verifier/not-proved.ts
var NotProved = class extends Error {
  finding;
  event;
  constructor(finding, message, event) {
    super(message);
    this.finding = finding;
    this.event = event;
  }
};
function readingOf(what, read) {
  try {
    return read();
  } catch (error) {
    if (error instanceof NoteError || error instanceof ProofError || error instanceof SyntaxError)
      throw new NotProved("malformed", `${what} cannot be read: ${error.message}. Get it again.`);
    throw error;
  }
}
function eventWords({ index, stream, revision, type }) {
  const at = index === void 0 ? "" : `event ${String(index)}`;
  if (stream === void 0 || revision === void 0) return at === "" ? "an event" : at;
  const own = `${stream}, revision ${String(revision)}${type === void 0 ? "" : ` (${type})`}`;
  return at === "" ? own : `${at}: ${own}`;
}

// node_modules/canonicalize/lib/canonicalize.js
function hasLoneSurrogate(value) {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code >= 55296 && code <= 56319) {
      if (i === value.length - 1) {
        return true;
      }
      const next = value.charCodeAt(i + 1);
      if (!(next >= 56320 && next <= 57343)) {
        return true;
      }
      i++;
    } else if (code >= 56320 && code <= 57343) {
      return true;
    }
  }
  return false;
}
function canonicalize(object, seen = /* @__PURE__ */ new Set()) {
  if (typeof object === "number" && isNaN(object)) {
    throw new Error("NaN is not allowed");
  }
  if (typeof object === "number" && !isFinite(object)) {
    throw new Error("Infinity is not allowed");
  }
  if (typeof object === "string" && hasLoneSurrogate(object)) {
    throw new Error("Lone surrogate is not allowed");
  }
  if (object === null || typeof object !== "object") {
    return JSON.stringify(object);
  }
  if (typeof object.toJSON === "function") {
    if (seen.has(object)) {
      throw new Error("Circular reference detected");
    }
    seen.add(object);
    const result2 = canonicalize(object.toJSON(), seen);
    seen.delete(object);
    return result2;
  }
  if (seen.has(object)) {
    throw new Error("Circular reference detected");
  }
  seen.add(object);
  let result;
  if (Array.isArray(object)) {
    const values = object.map((cv) => {
      const value = cv === void 0 || typeof cv === "symbol" ? null : cv;
      return canonicalize(value, seen);
    });
    result = `[${values.join(",")}]`;
  } else {
    const parts = [];
    for (const key of Object.keys(object).sort()) {
      if (object[key] === void 0 || typeof object[key] === "symbol") {
        continue;
      }
      parts.push(`${canonicalize(key)}:${canonicalize(object[key], seen)}`);
    }
    result = `{${parts.join(",")}}`;
  }
  seen.delete(object);
  return result;
}

// src/transparency/record.ts
function recordBytes({ stream, revision, id, type, data, metadata }) {
  const text = canonicalize({ stream, revision, id, type, data, metadata });
  if (text === void 0) throw new Error("the event has no canonical form");
  return Buffer.from(text);
}

// src/verifier/record.ts
var fields = ["stream", "revision", "id", "type", "data", "metadata"];
function readRecord(text) {
  const value = parsed(text);
  if (!isRecord(value)) throw malformed("it is not the record of an event");
  const canonical = Buffer.from(recordBytes(value)).toString();
  if (canonical !== text) throw malformed("it is not in the canonical form, in which it was hashed");
  return value;
}
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed("it is not JSON");
  }
}
var malformed = (reason) => new NotProved("malformed", `The record was changed: ${reason}. Get it again.`);
function isRecord(value) {
  if (!isObject(value) || Object.keys(value).length !== fields.length) return false;
  if (fields.some((field) => !Object.hasOwn(value, field))) return false;
  return typeof value.stream === "string" && Number.isSafeInteger(value.revision) && typeof value.id === "string" && typeof value.type === "string";
}
var isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
function statedTime({ data }) {
  return isObject(data) && typeof data.at === "string" ? data.at : null;
}

// src/verifier/archive-files.ts
var ownFolders = /^(events|proofs|notifications)\//;
function readManifest(files) {
  const manifest = manifestIn(textOf(files, "manifest.json"));
  for (const { name, sha256 } of manifest.files) {
    const content = files.get(name);
    if (!content)
      throw new NotProved("missing", `The archive lacks ${name}, which its manifest names. Get it again.`);
    if (createHash3("sha256").update(content).digest("hex") !== sha256)
      throw new NotProved("differs", `${name} differs from what the manifest of the archive says.`);
  }
  const named = new Set(manifest.files.map(({ name }) => name));
  const added = [...files.keys()].find((name) => ownFolders.test(name) && !named.has(name));
  if (added !== void 0)
    throw new NotProved("added", `The archive has ${added}, which its manifest does not name.`);
  return manifest;
}
function textOf(files, name) {
  const content = files.get(name);
  if (!content) throw new NotProved("missing", `The archive has no ${name}. ${missingHint(name)}`);
  return Buffer.from(content).toString();
}
var missingHint = (name) => name === "proofs/checkpoint" ? "It was made without a notary, so nothing in it can be proved. Its signature can: see README.txt in it." : "Is it an evidence archive of keyledger? Get it again.";
function manifestIn(text) {
  const value = readingOf("manifest.json", () => JSON.parse(text));
  if (!isObject(value) || !Array.isArray(value.files)) throw malformed2();
  const { tenantId, licenseId, revision } = value;
  if (typeof tenantId !== "string" || typeof licenseId !== "string") throw malformed2();
  if (typeof revision !== "number" || !Number.isSafeInteger(revision) || revision < 0) throw malformed2();
  const files = value.files.map((file) => {
    if (!isObject(file) || typeof file.name !== "string" || typeof file.sha256 !== "string") throw malformed2();
    return { name: file.name, sha256: file.sha256 };
  });
  return { tenantId, licenseId, revision, files };
}
var malformed2 = () => new NotProved("malformed", "manifest.json is not that of an evidence archive. Get the archive again.");

// src/verifier/archive-line.ts
import { isDeepStrictEqual } from "node:util";

// src/verifier/proved-event.ts
function proveRecord(record, index, proof, checkpoint) {
  const event = readRecord(record);
  const { stream, revision, id, type } = event;
  const name = { index, stream, revision, type };
  if (index >= checkpoint.size)
    throw new NotProved(
      "not_covered",
      `The proof puts ${eventWords(name)} after the ${String(checkpoint.size)} events of the checkpoint. Get the proof again: it belongs to another checkpoint.`,
      name
    );
  if (!provesInclusion(leafHash(Buffer.from(record)), index, checkpoint, proof))
    throw new NotProved(
      "differs",
      `The log does not have this content at ${eventWords(name)}. The event was changed, or it was moved, or the proof belongs to another checkpoint.`,
      name
    );
  return { stream, revision, id, type, at: statedTime(event), index };
}
function hashesOf(encoded) {
  return encoded.map((text) => {
    const hash = typeof text === "string" ? parseBase64(text) : void 0;
    if (hash?.length !== hashBytes)
      throw new NotProved("malformed", "A proof has a malformed hash. Get it again.");
    return hash;
  });
}

// src/verifier/archive-line.ts
var mayBeWithheld = /* @__PURE__ */ new Set(["LicenseImported", "KeyMailAsked"]);
function proveLine(line, proof, checkpoint) {
  if (!isLine(line))
    throw new NotProved("malformed", "A line of events is not an event. Get the archive again.");
  const { stream, revision, type } = line;
  const name = { stream, revision, type };
  if (proof === null)
    throw new NotProved(
      "not_covered",
      `${eventWords(name)} has no proof. It was added, or it was newer than the last checkpoint of ${String(checkpoint.size)} events: then get the archive again, a few seconds later.`,
      name
    );
  if (!isObject(proof) || !Number.isSafeInteger(proof.index) || !Array.isArray(proof.proof))
    throw new NotProved("malformed", `The proof of ${eventWords(name)} cannot be read.`, name);
  const index = Number(proof.index);
  const hashes = hashesOf(proof.proof);
  if (typeof proof.record === "string") {
    proveRecord(proof.record, index, hashes, checkpoint);
    compare(line, proof.record);
    return { ...name, index, isWithheld: false };
  }
  const leaf = typeof proof.leaf === "string" ? parseBase64(proof.leaf) : void 0;
  if (!leaf || !mayBeWithheld.has(type))
    throw new NotProved("missing", `The record of ${eventWords(name)} is missing.`, name);
  if (!provesInclusion(leaf, index, checkpoint, hashes))
    throw new NotProved("differs", `${eventWords(name)} is not at this place of the log.`, name);
  return { ...name, index, isWithheld: true };
}
function isLine(value) {
  return isObject(value) && typeof value.stream === "string" && Number.isSafeInteger(value.revision) && typeof value.type === "string";
}
function compare({ position: _, ...line }, record) {
  const { stream, revision, id, type, metadata, data } = readRecord(record);
  const name = { stream: line.stream, revision: line.revision, type: line.type };
  if (stream !== line.stream || revision !== line.revision)
    throw new NotProved(
      "order",
      `${eventWords(name)} has the proof of ${eventWords({ stream, revision, type })}: the events were moved.`,
      name
    );
  const shown = isObject(data) ? withoutKeyHash(data) : data;
  if (!isDeepStrictEqual(line, { stream, revision, id, type, metadata, data: shown }))
    throw new NotProved("differs", `${eventWords(name)} differs from what the log has.`, name);
}
function withoutKeyHash({ keyHash: _, ...data }) {
  return data;
}

// src/transparency/checkpoint.ts
function parseCheckpoint(text) {
  const [origin = "", size = "", encoded = "", ...rest] = text.split("\n");
  const root = parseBase64(encoded);
  const isNumber = /^(0|[1-9]\d*)$/.test(size) && Number.isSafeInteger(Number(size));
  const extensions = rest.slice(0, -1);
  if (origin === "" || !isNumber || root?.length !== hashBytes || rest.at(-1) !== "" || extensions.includes(""))
    throw new NoteError("the text is no checkpoint");
  return { origin, size: Number(size), root };
}

// src/transparency/note/verifier.ts
var verifierKey = (name, type, publicKey) => ({
  name,
  type,
  keyId: keyIdOf(name, type, publicKey),
  publicKey
});
function parseVerifierKey(text) {
  const [name = "", id = "", ...encoded] = text.trim().split("+");
  const bytes = parseBase64(encoded.join("+"));
  const type = Object.values(signatureTypes).find((known) => known === bytes?.[0]);
  if (!isKeyName(name) || !bytes || type === void 0 || bytes.length !== publicKeyBytes + 1)
    throw new NoteError("that is no Ed25519 key of a log or witness, such as example.com/log+530d903a+A…");
  const key = verifierKey(name, type, bytes.subarray(1));
  if (Buffer.from(key.keyId).toString("hex") !== id)
    throw new NoteError("the id in the middle of the key does not belong to it: a character may be missing");
  return key;
}
var signaturesOf = ({ signatures }, { name, keyId }) => signatures.filter((signature) => signature.name === name && Buffer.compare(signature.keyId, keyId) === 0);
function verifyNote(note, keys) {
  const message = Buffer.from(note.text);
  const made = keys.flatMap((key) => signaturesOf(note, key).map(({ signature }) => ({ key, signature })));
  if (made.length === 0) throw new NoteError("no trusted key signed it");
  for (const { key, signature } of made)
    if (!verifyBytes(key.publicKey, message, signature))
      throw new NoteError(`the signature of ${key.name} is wrong`);
}

// src/transparency/note/cosignature.ts
var timestampBytes = 8;
var cosignedMessage = (text, seconds) => Buffer.from(`cosignature/v1
time ${String(seconds)}
${text}`);
function cosignedAt(note, witness) {
  const times = signaturesOf(note, witness).map(({ signature }) => {
    if (signature.length <= timestampBytes) throw new NoteError(`the signature of ${witness.name} is wrong`);
    const seconds = Number(Buffer.from(signature).readBigUInt64BE());
    const message = cosignedMessage(note.text, seconds);
    if (!verifyBytes(witness.publicKey, message, signature.subarray(timestampBytes)))
      throw new NoteError(`the signature of ${witness.name} is wrong`);
    return seconds;
  });
  return times.length === 0 ? void 0 : Math.max(...times);
}

// src/verifier/trust.ts
var TrustUnusable = class extends Error {
};
function trustIn(keys, witnesses, threshold) {
  const trust = {
    keys: keys.map((key) => keyOf(key, signatureTypes.ed25519, "a log")),
    witnesses: witnesses.map((key) => keyOf(key, signatureTypes.cosignature, "a witness")),
    threshold: threshold ?? witnesses.length
  };
  if (trust.keys.length === 0) throw new TrustUnusable("A key of the log is needed. Give it with --key.");
  const distinct = new Set(trust.witnesses.map(({ publicKey }) => Buffer.from(publicKey).toString("base64")));
  if (distinct.size !== trust.witnesses.length) throw new TrustUnusable("The same witness is given twice.");
  if (!Number.isSafeInteger(trust.threshold) || trust.threshold < 0 || trust.threshold > witnesses.length)
    throw new TrustUnusable(
      `--threshold must be between 0 and ${String(witnesses.length)}, the number of witnesses.`
    );
  return trust;
}
function keyOf(text, type, whose) {
  try {
    const key = parseVerifierKey(text);
    if (key.type === type) return key;
  } catch (error) {
    if (!(error instanceof NoteError)) throw error;
    throw new TrustUnusable(`${text} is not usable: ${error.message}.`);
  }
  throw new TrustUnusable(`${text} is not the key of ${whose}. A log and a witness have different kinds.`);
}
function openCheckpoint(text, trust, what = "The checkpoint") {
  const note = readingOf(what, () => parseNote(text));
  const checkpoint = readingOf(what, () => parseCheckpoint(note.text));
  verifyLog(note, checkpoint.origin, trust, what);
  const cosigned = trust.witnesses.flatMap((witness) => {
    const seconds = genuine(what, () => cosignedAt(note, witness));
    return seconds === void 0 ? [] : [{ witness: witness.name, at: momentOf(seconds) }];
  });
  if (cosigned.length < trust.threshold)
    throw new NotProved(
      "too_few_witnesses",
      `${what} of ${String(checkpoint.size)} events is cosigned by ${String(cosigned.length)} of the witnesses, and ${String(trust.threshold)} are required. Get a newer one, or ask the operator why the witnesses did not sign.`
    );
  return { ...checkpoint, note: text, cosigned };
}
var momentOf = (seconds) => {
  const time = new Date(seconds * 1e3);
  return Number.isNaN(time.getTime()) ? `second ${String(seconds)}` : time.toISOString();
};
function verifyLog(note, origin, { keys }, what) {
  const own = keys.filter(({ name }) => name === origin);
  if (own.length === 0)
    throw new NotProved(
      "foreign_key",
      `${what} is of the log ${origin}, and the given key is of ${keys.map(({ name }) => name).join(", ")}. Get the key of that log from its operator, or check the right log.`
    );
  if (own.every((key) => signaturesOf(note, key).length === 0))
    throw new NotProved(
      "foreign_key",
      `${what} of ${origin} is not signed by the given key, but by ${signersOf(note)}. If the operator has announced that the key was replaced, give the new key as well; otherwise somebody else signed it.`
    );
  genuine(what, () => {
    verifyNote(note, own);
  });
}
var signersOf = ({ signatures }) => signatures.map(({ name, keyId }) => `${name}+${Buffer.from(keyId).toString("hex")}`).join(", ");
function genuine(what, check) {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof NoteError)) throw error;
    throw new NotProved(
      "wrong_signature",
      `${what} was changed after it was signed: ${error.message}. Get it again.`
    );
  }
}

// src/verifier/archive.ts
var proofsOf = (name) => name.replace(/^events\//, "proofs/");
function verifyArchive(files, trust) {
  const manifest = readManifest(files);
  const checkpoint = openCheckpoint(textOf(files, "proofs/checkpoint"), trust);
  const streams = /* @__PURE__ */ new Map();
  const withheld = [];
  let events = 0;
  for (const { name } of manifest.files) {
    if (!name.startsWith("events/")) continue;
    for (const [line, proof] of pairsOf(files, name)) {
      const event = proveLine(line, proof, checkpoint);
      checkOrder(streams.get(event.stream), event);
      streams.set(event.stream, event);
      if (event.isWithheld) withheld.push(nameOf(event));
      else events += 1;
    }
  }
  const last = streams.get(`license-${manifest.licenseId}`);
  checkEnd(manifest, last);
  const { tenantId, licenseId, revision } = manifest;
  return { tenantId, licenseId, events, withheld, revisions: revision + 1, checkpoint };
}
var nameOf = ({ stream, revision, type }) => ({ stream, revision, type });
function pairsOf(files, name) {
  const events = linesOf(files, name);
  const proofs = linesOf(files, proofsOf(name));
  if (proofs.length > events.length)
    throw new NotProved("missing", `${name} lacks an event at its end: ${proofsOf(name)} has more lines.`);
  return events.map((line, at) => [line, proofs[at] ?? null]);
}
var linesOf = (files, name) => textOf(files, name).split("\n").filter((line) => line !== "").map((line, at) => readingOf(`Line ${String(at + 1)} of ${name}`, () => JSON.parse(line)));
function checkOrder(before, event) {
  const expected = before ? before.revision + 1 : 0;
  if (event.revision > expected) {
    const name = { stream: event.stream, revision: expected };
    throw new NotProved("missing", `The archive lacks ${eventWords(name)}. It was removed.`, name);
  }
  if (event.revision < expected || before && event.index <= before.index)
    throw new NotProved(
      "order",
      `${eventWords(nameOf(event))} stands in another order than in the log.`,
      nameOf(event)
    );
}
function checkEnd({ licenseId, revision }, last) {
  const found = last ? last.revision + 1 : 0;
  if (found === revision + 1) return;
  const name = { stream: `license-${licenseId}`, revision: Math.min(found, revision + 1) };
  throw found <= revision ? new NotProved("missing", `The archive lacks ${eventWords(name)}, at the end of its stream.`, name) : new NotProved("added", `The archive has ${eventWords(name)}, which its manifest does not know.`, name);
}

// src/verifier/read-archive.ts
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";

// src/verifier/unzip.ts
import { inflateRawSync } from "node:zlib";
var endSignature = 101010256;
var entrySignature = 33639248;
var endBytes = 22;
var entryBytes = 46;
var localBytes = 30;
var longestComment = 65535;
var stored = 0;
var deflated = 8;
function unzip(archive) {
  const zip = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const files = /* @__PURE__ */ new Map();
  try {
    const end = endOf(zip);
    let at = zip.readUInt32LE(end + 16);
    for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
      if (zip.readUInt32LE(at) !== entrySignature) throw damaged();
      const nameLength = zip.readUInt16LE(at + 28);
      const name = zip.subarray(at + entryBytes, at + entryBytes + nameLength).toString();
      if (files.has(name)) throw new NotProved("malformed", `The archive has two files named ${name}.`);
      if (!name.endsWith("/")) files.set(name, contentOf(zip, at));
      at += entryBytes + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
    }
  } catch (error) {
    if (error instanceof NotProved) throw error;
    throw damaged();
  }
  return files;
}
var damaged = () => new NotProved("malformed", "The file is not a zip archive, or it is damaged. Get it again.");
function endOf(zip) {
  const lowest = Math.max(0, zip.length - endBytes - longestComment);
  for (let at = zip.length - endBytes; at >= lowest; at -= 1)
    if (zip.readUInt32LE(at) === endSignature) return at;
  throw damaged();
}
function contentOf(zip, entry) {
  const method = zip.readUInt16LE(entry + 10);
  const packed = zip.readUInt32LE(entry + 20);
  const size = zip.readUInt32LE(entry + 24);
  const local = zip.readUInt32LE(entry + 42);
  const start = local + localBytes + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const bytes = zip.subarray(start, start + packed);
  if (bytes.length !== packed || method !== stored && method !== deflated) throw damaged();
  const content = method === stored ? bytes : inflateRawSync(bytes, { maxOutputLength: Math.max(size, 1) });
  if (content.length !== size) throw damaged();
  return content;
}

// src/verifier/read-archive.ts
function readArchive(path) {
  if (!statSync(path).isDirectory()) return unzip(readFileSync(path));
  const files = /* @__PURE__ */ new Map();
  for (const entry of filesBelow(path))
    files.set(relative(path, entry).split(sep).join("/"), readFileSync(entry));
  return files;
}
var filesBelow = (directory) => readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
  const path = join(directory, entry.name);
  return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : [];
});

// src/verifier/words.ts
function checkpointLines({ origin, size, cosigned }) {
  return [
    `Checkpoint: ${String(size)} events of ${origin}, signed by the log.`,
    ...cosigned.map(({ witness, at }) => `Witness: ${witness} saw this log at ${at}.`)
  ];
}
var archiveLines = ({
  tenantId,
  licenseId,
  events,
  withheld,
  revisions,
  checkpoint
}) => [
  `Proved: ${String(events)} events about the license ${licenseId} of ${tenantId} are in the log as they are in the archive.`,
  `The license has the revisions 0 to ${String(revisions - 1)} without a gap.`,
  ...withheld.map(
    (event) => `Not proved: the content of ${eventWords(event)}. Only its place is, because its record has the hash of an imported key.`
  ),
  ...checkpointLines(checkpoint)
];

// src/verifier/standalone.ts
var usage = `usage: node verify.mjs [evidence.zip] [--key <public key of the log>]… [--witness <public key>]… [--threshold <number>]

Verifies the proofs of an evidence archive: in the directory into which it was unpacked, or in the given archive.
`;
function parseWords(words) {
  const parsed2 = { path: ".", keys: [], witnesses: [], threshold: void 0 };
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (!word.startsWith("--")) {
      parsed2.path = word;
      continue;
    }
    at += 1;
    const value = words[at];
    if (value === void 0) throw new TrustUnusable(usage);
    if (word === "--key") parsed2.keys.push(value);
    else if (word === "--witness") parsed2.witnesses.push(value);
    else if (word === "--threshold") parsed2.threshold = Number(value);
    else throw new TrustUnusable(usage);
  }
  return parsed2;
}
function main(words) {
  try {
    const { path, keys, witnesses, threshold } = parseWords(words);
    const files = readArchive(path);
    const ownKeys = textOf(files, "proofs/keys.txt").trim().split("\n");
    const trust = trustIn(keys.length > 0 ? keys : ownKeys, witnesses, threshold);
    const lines = archiveLines(verifyArchive(files, trust));
    const caution = keys.length > 0 ? [] : [
      `Checked with the key in the archive itself: ${ownKeys.join(", ")}`,
      "That proves only that the archive fits together. Compare the key with the one that the vendor publishes, and give it with --key."
    ];
    process.stdout.write(`${[...lines, ...caution].join("\n")}
`);
    return 0;
  } catch (error) {
    if (error instanceof NotProved) {
      process.stdout.write(`NOT PROVED: ${error.message}
`);
      return 1;
    }
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}
`);
    return 2;
  }
}
process.exitCode = main(process.argv.slice(2));
