"""Choices of which a statement makes one: who indents with tabs does not indent with spaces (hot path).

A line is a choice, the bars part what is chosen from, and the commas its words in both languages. After a semicolon stand
words that go without saying where one is chosen: tabs are for indentation. Only what excludes each other belongs here. Of
what a line with a `?` has a project may well use two: there a statement has to say what for, in the same words.
"""

from __future__ import annotations

CHOICES = """
tab,制表符|space,空格;indentation
english,英文,英语|chinese,mandarin,中文,汉语|japanese,日文,日语|german,德文,德语|french,法文,法语
short,brief,concise,terse,简短,简洁,精简,简短一点|long,detailed,verbose,thorough,详细,详尽
single quote,单引号|double quote,双引号;string,字符串
light,浅色,亮色|dark,深色,暗色
squash|rebase,变基|merge commit,合并提交;merge
npm|pnpm|yarn|bun;package manager,装包
poetry|uv|pipenv|conda;package manager,装包
?jest|vitest|mocha|jasmine
?pytest|unittest|nose
?postgres,postgresql|mysql|mariadb|sqlite|mongodb|oracle
?kafka|rabbitmq|rocketmq|nats|pulsar
?fly|render|heroku|vercel|netlify|railway|阿里云|腾讯云|华为云
?jenkins|circleci|github actions|gitlab ci
?notion|confluence|yuque,语雀|feishu,飞书|gitbook
formal,正式|casual,informal,随意,口语
synchronous,sync,同步|asynchronous,async,异步
snake case,snakecase,下划线|camel case,camelcase,驼峰;name convention
monday,周一,星期一|tuesday,周二,星期二|wednesday,周三,星期三|thursday,周四,星期四|friday,周五,星期五|saturday,周六,星期六|sunday,周日,星期日
allow,允许|forbid,forbidden,禁止
enable,启用,开启|disable,禁用,关闭
public,公开|private,私有
lf|crlf
vim,neovim,nvim|vscode|emacs|sublime;editor,编辑器
utf-8|gbk
ascending,升序|descending,降序
"""
