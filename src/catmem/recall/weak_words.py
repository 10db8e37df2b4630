"""Words that are about something, but seldom about one thing: alone they do not make a memory relevant.

Stopwords (catmem.text.stopwords) say nothing at all; these count a little. "How does a bloom filter work" must not
recall where the user works. Written as `query_tokens` writes them after stemming; Chinese as pairs.
"""

from __future__ import annotations

ENGLISH = """
work write time call run add change new old file error code function variable name line set show help start stop
find check move need last first next previous second create update remove delete rename undo read open close
explain describe tell mean word number value list item part piece case point problem issue question answer idea
reason example kind sort type way thing place side end day today tomorrow yesterday night tonight morning
evening weekend week month year hour minute people person user man world life home bad better best big small
long short high low easy hard simple full empty different able possible real whole left fix turn hold leave
bring happen seem feel love hope wait talk speak hear play pay send receive print return build text message
version result output input data default option common current implement project support handle please quick
fast slow plan finish done ready fine summarize translate again instead
python java javascript typescript rust golang ruby php kotlin swift html css sql script import async await closure
generic paragraph sentence email english chinese german french japanese typo readme laptop git merge regex algorithm
convert difference half two three four five six seven eight nine ten hundred thousand third
"""

CHINESE = """
解释 一次 时间 开始 结束 修改 改成 使用 方法 方式 东西 事情 内容 部分 情况 结果 原因
例子 功能 代码 函数 变量 文件 名字 一行 一段 一句 一步 明天 昨天 晚上 早上 中午 下午
上午 周末 计划 希望 喜欢 用户 添加 增加 删除 新增 新建 创建 更新 运行 执行 调用 打开
关闭 检查 查看 处理 实现 完成 支持 显示 输出 输入 返回 报错 错误 失败 成功 数据 版本
直接 统一 目前 全部 所有 每天 每次 出现 写的 做到 放在 一遍 一种 两个 三个 重新 然而
脚本 导入 异步 英文 英语 中文 段落 邮件 邮箱 本地 本机 算法 合并 是多 多大 下是
需求 项目 工作 写个 写一 改一 加一 先生 起来 出来 下来 过来 回来 语言 区别 意思 几个 上次 下次
"""
