"""Words that say nothing about the subject: function words and small talk, English and Chinese.

They are searched for like any word (an exact title may hold them) and left out where relevance is judged: "thanks, go
on" must not recall a memory. In the form in which `tokens` writes them: stemmed, Chinese as single characters and pairs.
"""

# ruff: noqa: SIM905 - word lists read best as words
from __future__ import annotations

ENGLISH = """
a an the this that these those it its itself he him his she her hers they them their theirs we us our ours you your yours i me
my mine myself yourself who whom whose which what when where why how
is am are was were be been being do does did doing done have has had having will would shall should can could may might must ought
not no nor none never dont doesnt didnt isnt arent wasnt werent wont wouldnt cant cannot couldnt shouldnt havent hasnt hadnt aint
and or but if then else than as so because since while until unless though although whether either neither both
of in on at by for from to into onto with without within about over under between among through during before after above below
up down out off again once here there now just only also too very really quite rather much many more most less least few some
any all each every other another such same own still already yet even ever
im youre hes shes theyre weve ive youve theyve youll well theyll youd hed theyd lets thats whats theres heres
please thank thanks thx ty ok okay yes yep yeah yup nope sure hi hello hey bye good great nice cool perfect awesome fine lol hm hmm
um uh oh ah wow right alright sorry maybe perhaps actually basically anyway kinda sorta gonna wanna gotta
go get got make let see look know think want need say tell ask try use give take put come keep like thing something anything
everything nothing one way bit lot etc ie eg vs re continue next
""".split()

OF_THE_TRADE = "go make get put let try next any bit etc re vs ie".split()
"""Of the English ones those that are the name of something, too: beside a telling word ("go version", "make target", "http
get") they may be meant as that."""

CHINESE_CHARACTERS = "的了是在我你他她它们这那有和与及或也都就还又再才把被给让向从到对为以于之其此吗呢吧啊呀嘛哦嗯哈呵嘿喂么什不没很太更最好个一上下里中来去会能可要想说看做得地着过而但则若且等请谢您"

CHINESE_PAIRS = """
我们 你们 他们 她们 它们 咱们 自己 大家 这个 那个 这些 那些 这里 那里 这样 那样 这么 那么 怎么 怎样 什么 为什 哪个 哪些 哪里 多少 几个 如何
一个 一些 一下 一点 一样 一起 一直 一定 有些 有点 没有 不是 不要 不会 不能 不用 不过 不行 可以 可能 应该 需要 必须 能够 已经 正在 还是 还有 或者
以及 并且 而且 但是 可是 所以 因为 如果 虽然 然后 之后 之前 以后 以前 现在 刚才 刚刚 今天 时候 就是 就会 就行 只是 只有 只要 都是 也是 也不 还没
是的 好的 好吧 好了 行了 对的 对吧 对了 谢谢 感谢 多谢 辛苦 不客 客气 你好 您好 再见 哈哈 嗯嗯 呵呵 麻烦 抱歉 知道 明白 清楚 继续 接着 觉得 认为
看看 看一 试试 帮我 帮忙 告诉 一会 等等 之类 什么的 的是 的话 了吗 了吧 是不 是什 么样 么时 是否 关于 对于 由于 通过 进行 的时 了一 我想 我要
我是 你是 请你 请问 能不 不能 有没 没问 问题 吗我 呢我 这是 那是 在这 在那 的那 的这 给我 让我 跟我 和我 把这 把它 是我 的我
""".split()

JAPANESE_PAIRS = """
です ます ました した する して ない ある いる これ それ あれ この その あの ここ そこ どこ なに から まで ので のに けど でも ため こと もの よう
すか すよ すね った って てい ああ はい いえ くだ ださ さい あり りが がと とう
""".split()

KOREAN_PAIRS = "그리 그리고 하지 하지만 그러 그러나 입니 니다 합니 습니 이것 저것 그것 우리 너희 감사 고맙 네네 아니 있는 없는 하는 해서 에서 으로 에게".split()
