// catmem for opencode: gives a session its memory, and keeps what is said in it.
// Written by `mem install opencode`; `mem uninstall opencode` takes it away again.
//
// Whatever goes wrong here or in the program that it calls, opencode goes on as if this file were not there.

import { spawn, spawnSync } from "node:child_process"

const COMMAND = ["mem", "hook", "opencode", "EVENT"]
// Milliseconds. The program ends itself long before; this is for a machine that stands still.
const PATIENCE = 5000
// How the prompt of the agent begins that only finds a name for a session.
const TITLE_AGENT = "You are a title generator"

const [PROGRAM, ...WORDS] = COMMAND
const wordsFor = (event) => WORDS.map((word) => (word === "EVENT" ? event : word))

// Sessions that an agent began; nobody talks in them.
const children = new Set()
// By session: the brief, once asked for; what stands beside its prompts, by message; the messages of the turn; what the
// host says of it.
const briefs = new Map()
const besides = new Map()
const turns = new Map()
const sessions = new Map()
// What was sent and is not known to have arrived, by session.
const underway = new Map()

// A child that could not be started has no id, and a signal to it would reach opencode itself.
function stop(child) {
  if (child?.pid > 0) child.kill("SIGKILL")
}

function ask(event, payload, started = () => {}) {
  return new Promise((resolve) => {
    let child
    let said = ""
    const settle = (answer) => {
      clearTimeout(timer)
      resolve(answer)
    }
    const timer = setTimeout(() => {
      stop(child)
      settle({})
    }, PATIENCE)
    try {
      child = spawn(PROGRAM, wordsFor(event), { stdio: ["pipe", "pipe", "ignore"] })
      started(child)
      child.on("error", () => settle({}))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (piece) => (said += piece))
      child.on("close", () => settle(parsed(said)))
      child.stdin.end(JSON.stringify(payload))
    } catch {
      settle({})
    }
  })
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}

// Nobody waits for it; what opencode's end would cut off is sent again then.
function tell(session, event, payload) {
  const sending = { event, payload, child: undefined }
  underway.set(session, sending)
  ask(event, payload, (child) => (sending.child = child)).then(() => {
    if (underway.get(session) === sending) underway.delete(session)
  })
}

process.on("exit", () => {
  for (const { event, payload, child } of underway.values()) {
    try {
      stop(child)
      spawnSync(PROGRAM, wordsFor(event), { input: JSON.stringify(payload), stdio: ["pipe", "ignore", "ignore"], timeout: PATIENCE })
    } catch {}
  }
})

function briefOf(session, directory) {
  if (!briefs.has(session)) briefs.set(session, ask("system.transform", { session_id: session, cwd: directory }))
  return briefs.get(session)
}

const isTyped = (part) => part.type === "text" && !part.synthetic && !part.ignored
const textOf = (parts) => parts.filter(isTyped).map((part) => part.text).join("\n")

function messageOf(session, id) {
  if (!turns.has(session)) turns.set(session, new Map())
  const turn = turns.get(session)
  if (!turn.has(id)) turn.set(id, { info: { id, role: "" }, parts: new Map() })
  return turn.get(id)
}

function noted(session, id, info, parts) {
  const message = messageOf(session, id)
  if (info) message.info = info
  for (const part of parts) message.parts.set(part.id, part)
}

function ended(session, directory) {
  const messages = [...(turns.get(session)?.values() ?? [])]
    .filter((message) => message.info.role)
    .map(({ info, parts }) => ({ info, parts: [...parts.values()] }))
  if (children.has(session) || !messages.length) return
  const replies = messages.filter(({ info }) => info.role === "assistant" && !info.summary)
  tell(session, "session.idle", {
    session_id: session,
    cwd: directory,
    session: sessions.get(session) ?? { id: session, directory },
    reply: replies.length ? textOf(replies.at(-1).parts) : "",
    messages,
  })
}

export const Catmem = async ({ directory }) => ({
  event: async ({ event }) => {
    try {
      const { type, properties } = event
      if (type === "session.created" || type === "session.updated") {
        sessions.set(properties.info.id, properties.info)
        if (properties.info.parentID) children.add(properties.info.id)
      } else if (type === "message.updated") {
        noted(properties.info.sessionID, properties.info.id, properties.info, [])
      } else if (type === "message.part.updated") {
        noted(properties.part.sessionID, properties.part.messageID, undefined, [properties.part])
      } else if (type === "session.idle") {
        ended(properties.sessionID, directory)
      } else if (type === "session.deleted") {
        for (const kept of [briefs, besides, turns, sessions]) kept.delete(properties.info.id)
      }
    } catch {}
  },

  "chat.message": async (input, output) => {
    try {
      const { id, sessionID } = output.message
      if (children.has(sessionID)) return
      turns.delete(sessionID)
      noted(sessionID, id, output.message, output.parts)
      // First the brief: what stands in it is not told again beside a prompt.
      await briefOf(sessionID, directory)
      const prompt = textOf(output.parts)
      const { beside } = await ask("chat.message", { session_id: sessionID, cwd: directory, prompt_id: id, prompt })
      if (!beside) return
      if (!besides.has(sessionID)) besides.set(sessionID, new Map())
      besides.get(sessionID).set(id, beside)
    } catch {}
  },

  // Only for the model: nothing of it is kept by opencode, nor shown to the agent that names the session.
  "experimental.chat.messages.transform": async (input, output) => {
    try {
      for (const { info, parts } of output.messages) {
        const text = besides.get(info.sessionID)?.get(info.id)
        if (!text || parts.some((part) => part.text === text)) continue
        const id = `${parts.at(-1)?.id}m`
        parts.push({ id, sessionID: info.sessionID, messageID: info.id, type: "text", text, synthetic: true })
      }
    } catch {}
  },

  "experimental.chat.system.transform": async ({ sessionID }, output) => {
    try {
      if (!sessionID || children.has(sessionID) || output.system.some((text) => text.includes(TITLE_AGENT))) return
      const { system } = await briefOf(sessionID, directory)
      if (system) output.system.push(system)
    } catch {}
  },
})
