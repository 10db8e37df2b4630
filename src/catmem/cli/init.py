"""`mem init`"""

from __future__ import annotations

from catmem.cli.output import Session, mem_command
from catmem.settings.config import create_config


@mem_command("init", "Make the data directory and say what to do next.", "建立数据目录，并提示下一步。")
def command(session: Session) -> None:
    catmem = session.catmem
    paths = catmem.paths
    made = create_config(paths)
    for folder in (paths.messages, paths.run, paths.locks):
        paths.make(folder)
    _ = catmem.settings, catmem.ledger.device
    catmem.store.catch_up()
    catmem.history.write_index()
    session.result({"dir": str(paths.root), "created": made})
    if not session.as_json:
        where = paths.root
        session.say(f"Memory lives in {where}", f"记忆保存在 {where}")
        session.say(
            "Next:\n"
            "  mem start                 chat with memory in this terminal\n"
            "  mem install claude-code   give Claude Code this memory\n"
            "  mem import PATH           bring in earlier conversations",
            "接下来：\n"
            "  mem start                 在终端里开始带记忆的对话\n"
            "  mem install claude-code   让 Claude Code 用上这份记忆\n"
            "  mem import 路径           导入以前的对话",
        )
