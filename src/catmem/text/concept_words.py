"""What a developer's life is about, in the words of both languages: a line is one concept, its words parted by `|`.

A plain text and no TOML, since the hook reads it: parsing that would cost it 5 ms. All is written as `tokens` writes it:
English stemmed and in lower case, Chinese in simplified characters, which traditional ones meet. A word may be several,
and may stand for several concepts. What belongs in a line is what a person would take for the same thing when looking
for it, not what is merely near.
A name of one such thing has a ~: the package manager finds pnpm and pnpm the package manager, and never pnpm npm.
"""

from __future__ import annotations

CONCEPTS = """
test|unit test|spec|测试|单测|单元测试|用例
end to end|e2e|integration test|端到端|集成测试
deploy|deployment|rollout|部署|上线|发布|发版
release|publish|发版|发布|发行
rollback|roll back|revert|回滚|回退|撤回
canary|gradual rollout|灰度|金丝雀
commit|提交
commit message|commit subject|提交信息|提交说明|提交消息|提交标题
branch|分支
merge|合并|合入
rebase|变基
pull request|merge request|pr|mr|合并请求|拉取请求
code review|review|reviewer|代码评审|代码审查|评审|审查|审核
repository|repo|仓库|代码库|代码仓
monorepo|单一仓库|单仓
package manager|~pnpm|~npm|~yarn|~bun|包管理器|包管理|包管理工具
dependency|third party|依赖|第三方库|依赖项
lockfile|lock file|锁文件|锁定文件
indentation|indent|tab|缩进|制表符
line length|line width|行宽|行长|每行长度
format|formatter|~prettier|格式化|排版
lint|linter|~eslint|~ruff|静态检查|代码检查|规范检查
code style|style guide|代码风格|编码规范|代码规范|风格
name convention|命名|命名规范|起名
comment|注释|备注
semicolon|分号
variable|变量
coverage|test coverage|复盖率|测试复盖率
docstr|文档字符串
documentation|doc|readme|文档|说明文档
changelog|release note|更新日志|变更日志|发布说明
database|db|~postgre|~mysql|~sqlite|数据库|资料库
table|数据表格
column|字段|列名|数据列
field|字段|属性
row|记录|行数据
migration|schema change|~flyway|~alembic|迁移|数据库迁移|改表|加字段|表结构变更
schema|表结构|模式
primary key|主键
foreign key|外键
index|索引
transaction|事务
query|sql|查询
backup|备份
restore|recover|恢复|还原
replica|replication|副本|复制|从库
shard|分片|分库|分表
connection pool|连接池
orm|对象关系映射
port|端口
host|hostname|主机|主机名
server|backend|服务端|服务器|后端|伺服器
client|客户端
frontend|front end|ui|前端|界面
web page|page|网页|页面
component|组件
button|按钮
form|input field|表单
menu|菜单
dialog|modal|popup|弹窗|对话框|模态框
layout|布局
stylesheet|css|样式|样式表
dark mode|dark theme|深色模式|暗色|夜间模式
theme|主题
font|字体
icon|图标
color|colour|颜色|配色
chart|图表
mobile|phone|手机|移动端
app|application|应用
api|interface|endpoint|接口
route|router|路由
request|请求
response|响应
rate limit|throttle|限流|限速|频率限制
timeout|time out|超时
retry|backoff|重试|退避
idempotent|idempotency|幂等
webhook|callback|回调
websocket|长连接
graphql|图查询
serialize|serialization|序列化
json|序列化格式
encode|charset|utf 8|编码|字符集
login|sign in|signin|auth|authentication|登录|登入|登陆|认证|鉴权
logout|sign out|登出|退出登录
sign up|register|registration|注册
permission|access control|~rbac|authorization|权限|授权|访问控制
role|角色
account|账号|账户|帐号
password|passphrase|密码|口令
token|令牌
session|会话
cookie|浏览器凭据
secret|credential|密钥|凭据|凭证
certificate|tls|ssl|证书
encrypt|encryption|加密
hash|digest|哈希|散列|摘要
cache|~memcach|~redis|缓存|快取
queue|message queue|~kafka|~rabbitmq|队列|消息队列
worker|background job|后台任务|工作进程
cron|schedule|scheduler|定时任务|定时|计划任务|调度
batch|批处理|批量
stream|流式|数据流
subscribe|subscription|订阅
publish subscribe|pubsub|发布订阅
container|~docker|~podman|容器|镜像
image|镜像|图片|图像
photo|picture|照片|图片
kubernetes|k8s|容器编排|集群
cluster|集群
node|节点
load balancer|负载均衡
proxy|代理
gateway|网关
domain|dns|域名|解析
cdn|内容分发
bucket|object storage|~s3|对象存储|存储桶
storage|存储
disk|磁盘|硬盘
memory|ram|内存
processor|cpu|处理器
thread|线程
process|进程
coroutine|async|asynchronous|协程|异步
sync|synchronize|synchronous|同步
concurrency|concurrent|并发
parallel|并行
lock|mutex|加锁|互斥
deadlock|死锁
race condition|竞态|竞争条件
memory leak|leak|内存泄漏|泄漏
performance|slow|latency|性能|延迟|卡顿
optimize|optimization|优化
benchmark|基准测试|压测|性能测试
load test|stress test|压测|压力测试
log|print|println|日志|打印
monitor|observability|监控|可观测
alert|alarm|告警|报警|警报
metric|指标
trace|链路追踪|追踪
dashboard|看板|仪表盘|面板
error code|错误码
exception|异常
crash|panic|崩溃|宕机|闪退
bug|defect|缺陷|故障
outage|incident|downtime|故障|事故|停机|宕机
debug|debugger|调试|排查|排错
hotfix|patch|热修复|补丁
configuration|config|setting|配置|设置|设定
environment variable|env var|环境变量
development environment|dev environment|开发环境
stage|pre production|预发|预发布|预发环境|测试环境
production|prod|生产环境|线上|正式环境|生产
local machine|laptop|localhost|本地|本机|笔记本
operate system|os|操作系统|系统
restart|reboot|重启
install|installation|安装
upgrade|升级
downgrade|降级
feature flag|feature toggle|功能开关|特性开关|开关
experiment|ab test|实验
ci|continuous integration|pipeline|持续集成|流水线
build|compile|compiler|构建|编译|打包
bundle|bundler|~vite|~webpack|打包
artifact|制品|产物
makefile|构建脚本
script|脚本
command line|cli|terminal|shell|命令行|终端
editor|ide|编辑器
keyboard shortcut|shortcut|hotkey|快捷键
plugin|extension|插件|扩展
library|lib|类库
framework|框架
translation|internationalization|localization|翻译|国际化|本地化|多语言
type hint|type annotation|类型注解|类型标注|类型提示
type check|~mypy|类型检查
static type|strict mode|严格模式
parameter|argument|参数
constant|常量
global variable|全局变量
enum|enumeration|枚举
array|list|数组|列表
dictionary|map|字典|映射
integer|int|整数|整型
float|float point|decimal|浮点|浮点数|小数
boolean|bool|布尔
null|nil|空值
regular expression|regex|正则|正则表达式
recursion|recursive|递归
inheritance|继承
composition|组合
refactor|重构
duplicate|duplication|重复
technical debt|tech debt|技术债
architecture|架构
microservice|微服务
monolith|单体
design pattern|设计模式
pagination|paginate|分页|翻页
sort|order by|排序
search|搜索|检索
filter|过滤|筛选
upload|上传|上载
download|下载
import|导入|汇入
export|导出|汇出
file path|path|路径
directory|folder|目录|文件夹|资料夹
file name|filename|文件名
attachment|附件
email|mail|邮件|邮箱
notification|notify|push notification|通知|推送
sms|text message|短信|简讯
invoice|发票|账单
payment|pay|支付|付款
refund|退款|退钱
price|money|amount|cent|价格|金额|单价|价钱
currency|货币|币种
discount|coupon|折扣|优惠|优惠券
order|订单
cart|shop cart|购物车
inventory|stock|库存
customer|客户|顾客
tenant|multi tenant|租户|多租户
time zone|timezone|utc|时区
timestamp|时间戳
date format|日期格式
deadline|due date|截止日期|截止|期限
milestone|里程碑
todo|task|待办|任务
progress|status|进度|进展
meet|会议|例会
standup|stand up|daily standup|站会|晨会|早会
requirement|需求
roadmap|路线图
estimate|estimation|估算|预估
team|团队|小组
colleague|coworker|teammate|同事
boss|manager|上司|领导|经理
license|licence|许可证|协议|授权协议
privacy|隐私
security|secure|安全
vulnerability|cve|漏洞
injection|注入
audit|审计
compliance|合规
accessibility|无障碍
validation|validate|校验|验证
default value|default|默认值|默认|缺省
prefer|preference|favorite|偏好|喜欢|习惯
answer|reply|回答|回复|答复
short answer|concise|brief|简短|简洁|精简
bullet|bullet point|要点|列表
english|英文
chinese|中文
model|llm|模型|大模型
prompt|提示词
train|训练
dataset|data set|数据集
embed|vector|向量|嵌入
gpu|显卡
algorithm|算法
notebook|~jupyter|笔记本
virtual environment|venv|虚拟环境
waitlist|wait list|queue|候补|等候名单|排队
expire|expiry|expiration|ttl|过期|失效|有效期
retention|保留|保存期限
quota|limit|配额|上限|限额
template|模板|范本
screenshot|截图|截屏
diff|差异|改动对比
archive|归档|存档
rename|重命名|改名
version|版本
version control|~git|版本控制
semantic version|semver|语义化版本
tag|标签
label|标签
ticket|issue|工单|议题
stakeholder|干系人
compatible|compatibility|兼容
deprecate|弃用|废弃
"""
